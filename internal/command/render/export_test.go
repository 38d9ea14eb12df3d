package render

// Substitute is for fuzzing without a file for each text.
var Substitute = substitute
