"""upcc: UPC 1.3 translated to C with calls to the runtime on OpenSHMEM."""
