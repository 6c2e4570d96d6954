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
 * <p>A thread that waits for completions works in this order (ibv_get_cq_event(3),
 * ibv_req_notify_cq(3)):
 *
 * <ol>
 *   <li>{@link dev.sluice.verbs.ibv.IbvCq#requestNotify} arms the queue, before the first request
 *       is posted. Arming raises one event, for the next completion.
 *   <li>{@link dev.sluice.verbs.ibv.IbvCompChannel#awaitEvent} waits for the event and takes it.
 *   <li>{@link dev.sluice.verbs.ibv.IbvCq#acknowledgeEvents} acknowledges it. Each taken event must
 *       be acknowledged, because in C destroying the queue waits for that. One call may acknowledge
 *       many events, and should, as it takes a lock.
 *   <li>Arm the queue again.
 *   <li>{@link dev.sluice.verbs.ibv.IbvCq#poll} until it returns 0, then wait again. A completion
 *       that came before the queue was armed raises no event, so the last poll must follow the
 *       arming. An event may find the queue empty, as an earlier poll may have taken its
 *       completion.
 * </ol>
 *
 * <p>The device accesses native memory by address, which neither an arena nor the garbage collector
 * sees. The caller keeps its arena open and its segments reachable. An {@code Arena.ofAuto()} frees
 * memory that the device still uses. These times apply:
 *
 * <ul>
 *   <li>Memory of a request, until its completion was polled (ibv_post_send(3), ibv_post_recv(3)).
 *       A send request without the flag SIGNALED is complete once a later one of its queue pair is.
 *       Data of a request with the flag INLINE may be reused once posting returned.
 *   <li>Memory of an {@link dev.sluice.verbs.ibv.IbvMr}, until the region is closed. Peers may
 *       access it at any time before. The region holds no reference to it.
 *   <li>An {@link dev.sluice.verbs.ibv.IbvAh}, until the requests to it are complete.
 *   <li>A list of requests, until posting returned. It may then be filled anew.
 * </ul>
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
