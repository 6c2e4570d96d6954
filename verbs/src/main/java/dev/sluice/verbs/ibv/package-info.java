/**
 * Binding of libibverbs: one class per verbs object, named after its C structure. Semantics are
 * those of rdma-core's manual pages.
 *
 * <p>The usual way through the objects:
 *
 * <ol>
 *   <li>{@link IbvDeviceList} lists the devices; {@link IbvDevice#open} returns an {@link
 *       IbvContext}.
 *   <li>The context answers queries about the device ({@link IbvDeviceAttr}, {@link IbvPortAttr},
 *       {@link IbvGidEntry}) and reports {@link IbvAsyncEvent}s.
 *   <li>The context creates completion queues, {@link IbvCq}. A queue that has an {@link
 *       IbvCompChannel} announces its completions there.
 *   <li>The context creates protection domains. An {@link IbvPd} registers memory as {@link IbvMr},
 *       and creates queue pairs, {@link IbvQp}, shared receive queues, {@link IbvSrq}, and address
 *       handles, {@link IbvAh}.
 *   <li>{@link IbvQp#modify} connects a queue pair: RESET, INIT, RTR, RTS, with the attributes of
 *       {@link IbvQpAttr}.
 *   <li>{@link IbvSendWrList} and {@link IbvRecvWrList} hold work requests to post. {@link
 *       IbvWcArray} holds the completions that {@link IbvCq#poll} finds. Posting and polling
 *       allocate nothing.
 * </ol>
 *
 * <p>A thread that waits for completions works in this order (ibv_get_cq_event(3),
 * ibv_req_notify_cq(3)):
 *
 * <ol>
 *   <li>{@link IbvCq#requestNotify} arms the queue, before the first request is posted. Arming
 *       raises one event, for the next completion.
 *   <li>{@link IbvCompChannel#awaitEvent} waits for the event and takes it.
 *   <li>{@link IbvCq#acknowledgeEvents} acknowledges it. Each taken event must be acknowledged,
 *       because in C destroying the queue waits for that. One call may acknowledge many events, and
 *       should, as it takes a lock.
 *   <li>Arm the queue again.
 *   <li>{@link IbvCq#poll} until it returns 0, then wait again. A completion that came before the
 *       queue was armed raises no event, so the last poll must follow the arming. An event may find
 *       the queue empty, as an earlier poll may have taken its completion.
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
 *   <li>Memory of an {@link IbvMr}, until the region is closed. Peers may access it at any time
 *       before. The region holds no reference to it.
 *   <li>An {@link IbvAh}, until the requests to it are complete.
 *   <li>A list of requests, until posting returned. It may then be filled anew.
 * </ul>
 *
 * <p>Further classes cover memory windows, {@link IbvMw}, XRC domains, {@link IbvXrcd}, the header
 * before a datagram, {@link IbvGrh}, buffers of the driver and DMA handles ({@link IbvBuf}, {@link
 * IbvDmah}, {@link IbvMrInitAttr}), and the extended forms of queue pairs and completion queues,
 * {@link IbvQpEx} and {@link IbvCqEx}.
 *
 * <p>A parent owns its children and closes them first; close may be called twice. Each failure is a
 * {@link dev.sluice.verbs.VerbsException} with operation, arguments and error number. Any thread
 * may use an object, as in C, but not while another thread closes it.
 */
package dev.sluice.verbs.ibv;
