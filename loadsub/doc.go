// Package loadsub experiments with recorded sections: it chooses the loads that
// matter, replaces their values, runs racing sections in other orders, and says
// what changed.
//
// Two kinds of experiment answer two questions. A Trial replaces one load of
// one section and compares its outputs with the recorded ones: does the value
// matter? An Interleaving executes two racing sections together, pre-empting
// one at a racing access, and compares the result with both serial orders: can
// the race do something that no order of the two would? The second question is
// serialisability (Papadimitriou, "The Serializability of Concurrent Database
// Updates", 1979), applied to sections of machine code.
package loadsub
