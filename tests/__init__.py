"""Tests: they mirror `src`, and `tests.support` holds what several of them need."""
