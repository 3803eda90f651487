"""The desk: what people ask of the house, the same for the command line, REST and the pages; a module for each thing."""
