/**
 * Binding of libibverbs: one class per verbs object, named after its C structure. Semantics are
 * those of rdma-core's manual pages.
 *
 * <p>The usual way through the objects:
 *
 * <ol>
 *   <li>{@link dev.sluice.verbs.ibv.IbvDeviceList} lists the devices; {@link
 *       dev.sluice.verbs.ibv.IbvDevice#open} returns an {@link dev.sluice.verbs.ibv.IbvContext}.
 *   <li>The context answers queries about the device ({@link dev.sluice.verbs.ibv.IbvDeviceAttr},
 *       {@link dev.sluice.verbs.ibv.IbvPortAttr}, {@link dev.sluice.verbs.ibv.IbvGidEntry}) and
 *       reports {@link dev.sluice.verbs.ibv.IbvAsyncEvent}s.
 *   <li>The context creates completion queues, {@link dev.sluice.verbs.ibv.IbvCq}. A queue that has
 *       an {@link dev.sluice.verbs.ibv.IbvCompChannel} announces its completions there.
 *   <li>The context creates protection domains. An {@link dev.sluice.verbs.ibv.IbvPd} registers
 *       memory as {@link dev.sluice.verbs.ibv.IbvMr}, and creates queue pairs, {@link
 *       dev.sluice.verbs.ibv.IbvQp}, shared receive queues, {@link dev.sluice.verbs.ibv.IbvSrq},
 *       and address handles, {@link dev.sluice.verbs.ibv.IbvAh}.
 *   <li>{@link dev.sluice.verbs.ibv.IbvQp#modify} connects a queue pair: RESET, INIT, RTR, RTS,
 *       with the attributes of {@link dev.sluice.verbs.ibv.IbvQpAttr}.
 *   <li>{@link dev.sluice.verbs.ibv.IbvSendWrList} and {@link dev.sluice.verbs.ibv.IbvRecvWrList}
 *       hold work requests to post. {@link dev.sluice.verbs.ibv.IbvWcArray} holds the completions
 *       that {@link dev.sluice.verbs.ibv.IbvCq#poll} finds. Posting and polling allocate nothing.
 * </ol>
 *
 * <p>Further classes cover memory windows, {@link dev.sluice.verbs.ibv.IbvMw}, XRC domains, {@link
 * dev.sluice.verbs.ibv.IbvXrcd}, the header before a datagram, {@link dev.sluice.verbs.ibv.IbvGrh},
 * and the extended forms of queue pairs and completion queues, {@link dev.sluice.verbs.ibv.IbvQpEx}
 * and {@link dev.sluice.verbs.ibv.IbvCqEx}.
 *
 * <p>A parent owns its children and closes them first; close may be called twice. Each failure is a
 * {@link dev.sluice.verbs.VerbsException} with operation, arguments and error number. Any thread
 * may use an object, as in C, but not while another thread closes it.
 */
package dev.sluice.verbs.ibv;
