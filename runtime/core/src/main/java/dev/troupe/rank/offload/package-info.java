/** The store of the state of ranks in files, while a run trains. It imports the compute packages and no other room. */
package dev.troupe.rank.offload;
