"""Routes: one module a noun, one function a request."""
