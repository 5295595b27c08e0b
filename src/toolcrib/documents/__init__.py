"""Documents: files of a chat. Rows and bytes are two ports; a folder keeps the bytes."""
