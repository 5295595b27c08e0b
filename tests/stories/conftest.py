"""This module keeps pytest out of the packages that stories install; they bring their own tests."""

collect_ignore_glob = ["packages/*"]
