// Package hwmodel models processing units, their caches and the coherence between them. It says what flows in; it knows no file and no instruction set.
package hwmodel
