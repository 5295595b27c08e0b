"""Migrations: the steps between the shapes of the database, forwards and back."""
