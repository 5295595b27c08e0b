"""Support: what tests of several packages share."""
