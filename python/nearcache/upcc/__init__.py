"""upcc: translates UPC 1.3 to C with calls to the runtime on OpenSHMEM."""
