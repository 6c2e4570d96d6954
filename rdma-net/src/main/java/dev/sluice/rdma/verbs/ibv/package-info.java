/**
 * Binding of libibverbs: one class per verbs object, named after its C structure, with the meaning
 * that the manual pages of rdma-core give; no policy of ours.
 *
 * <p>Parents own their children and close them first. Whatever fails throws a {@link
 * dev.sluice.rdma.VerbsException} with operation, arguments and error number. Objects may be used
 * by any thread, as in C, but not while another thread closes them.
 *
 * <p>Posting and polling are inline functions in C, which call through pointers in {@code struct
 * ibv_context}; {@link dev.sluice.rdma.verbs.ibv.IbvOps} does the same, and allocates nothing.
 */
package dev.sluice.rdma.verbs.ibv;
