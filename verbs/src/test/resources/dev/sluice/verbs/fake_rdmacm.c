/*
 * The part of librdmacm that connects queue pairs of the adapters of fake_ibverbs.c within one
 * process: ids at the addresses of the first adapter's GIDs, of which the last one to listen gets
 * all requests, events in a pipe of each channel.
 */
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <unistd.h>

struct id {
  struct rdma_cm_id id;
  struct id *peer;
  struct ibv_context *context;
  uint32_t qp_number, peer_qp_number;
  struct ibv_ece local_ece, remote_ece;
};

static struct id *listening;

static int announce(struct rdma_cm_id *id, struct rdma_cm_id *listener, int type,
                    struct rdma_conn_param *param) {
  struct rdma_cm_event *event = calloc(1, sizeof *event);
  event->id = id;
  event->listen_id = listener;
  event->event = type;
  if (param) {
    void *data = malloc(param->private_data_len + 1);
    memcpy(data, param->private_data, param->private_data_len);
    event->param.conn = *param;
    event->param.conn.private_data = data;
  }
  return write((intptr_t)((struct rdma_event_channel **)id->channel)[1], &event, sizeof event) < 0;
}

/* An event of a type, of the id that listens. */
void fake_cm_event(int type) { announce(&listening->id, NULL, type, NULL); }

struct rdma_event_channel *rdma_create_event_channel(void) {
  void **channel = calloc(2, sizeof(void *));
  int fds[2];
  if (pipe2(fds, O_CLOEXEC)) return NULL;
  ((struct rdma_event_channel *)channel)->fd = fds[0];
  channel[1] = (void *)(intptr_t)fds[1];
  return (struct rdma_event_channel *)channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  close(channel->fd);
  close((intptr_t)((void **)channel)[1]);
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
  while (get(&adapters[0], "cm_hangs")) {
    fake_set(0, "is_hanging", 1);
    usleep(1000);
  }
  if (get(&adapters[0], "cm_error")) {
    count(&adapters[0], "cm_errors");
    errno = get(&adapters[0], "cm_error");
    fake_set(0, "cm_error", 0);
    return -1;
  }
  return take(channel->fd, event, sizeof *event);
}

int rdma_ack_cm_event(struct rdma_cm_event *event) { return 0; }

const char *rdma_event_str(enum rdma_cm_event_type event) { return "an event"; }

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                   enum rdma_port_space ps) {
  struct id *created = calloc(1, sizeof *created);
  created->id.channel = channel;
  created->id.ps = ps;
  created->id.qp_type = ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
  *id = &created->id;
  return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id) { return 0; }

/* An id without device and route: its creator binds it. */
int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
                   struct ibv_qp_init_attr *attr) {
  rdma_create_id(NULL, id, NULL, res->ai_port_space);
  (*id)->qp_type = res->ai_qp_type;
  return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id) {}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel) { return -1; }

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t size) {
  return 0;
}

static struct ibv_context *new_context(void) {
  struct ibv_context *context = calloc(1, sizeof(struct verbs_context));
  context->device = &adapters[0].device;
  context->ops.poll_cq = poll_cq;
  context->ops.req_notify_cq = req_notify_cq;
  return context;
}

struct ibv_context **rdma_get_devices(int *count) {
  struct ibv_context **list = calloc(2, sizeof *list);
  list[0] = new_context();
  *count = 1;
  return list;
}

void rdma_free_devices(struct ibv_context **list) { free(list); }

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **result) {
  fake_set(0, "ai_flags", hints->ai_flags);
  fake_set(0, "ai_family", hints->ai_family);
  fake_set(0, "has_service", !!service);
  *result = calloc(1, sizeof **result);
  (*result)->ai_port_space = hints->ai_port_space;
  (*result)->ai_qp_type = hints->ai_qp_type;
  if (hints->ai_src_len) {
    (*result)->ai_src_len = hints->ai_src_len;
    (*result)->ai_src_addr = malloc(hints->ai_src_len);
    memcpy((*result)->ai_src_addr, hints->ai_src_addr, hints->ai_src_len);
  }
  return 0;
}

void rdma_freeaddrinfo(struct rdma_addrinfo *result) { free(result); }

/* Functions of rdma-core 60, by names of their own: the installed header may be older. */

static struct rdma_addrinfo *resolved;

int fake_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
                          const struct rdma_addrinfo *hints) __asm__("rdma_resolve_addrinfo");
int fake_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
                          const struct rdma_addrinfo *hints) {
  fake_set(0, "has_node", !!node);
  if (failure(&adapters[0], "resolve_addrinfo_error")) return -1;
  rdma_getaddrinfo(node, service, hints, &resolved);
  return announce(id, NULL, 16, NULL);
}

int fake_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
    __asm__("rdma_query_addrinfo");
int fake_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info) {
  *info = resolved;
  resolved = NULL;
  errno = ENOENT;
  return *info ? 0 : -1;
}

int fake_write_cm_event(struct rdma_cm_id *id, int type, int status, uint64_t arg)
    __asm__("rdma_write_cm_event");
int fake_write_cm_event(struct rdma_cm_id *id, int type, int status, uint64_t arg) {
  struct rdma_cm_event *event = calloc(1, sizeof *event);
  event->id = id;
  event->event = type;
  event->status = status;
  memcpy(&event->param, &arg, sizeof arg);
  /* The field of the private data's length, which is not of this event. */
  event->param.conn.private_data_len = 8;
  return write((intptr_t)((struct rdma_event_channel **)id->channel)[1], &event, sizeof event) < 0;
}

static int bind_id(struct rdma_cm_id *id, const struct sockaddr *address) {
  struct id *mine = (struct id *)id;
  mine->context = new_context();
  id->verbs = mine->context;
  id->pd = ibv_alloc_pd(id->verbs);
  id->port_num = 1;
  memcpy(&id->route.addr.src_storage, address, sizeof(struct sockaddr_in));
  id->route.addr.src_sin.sin_port = htons(4791);
  return 0;
}

static int has(const struct sockaddr_in *address) {
  for (int i = 0; i < GIDS; i++) {
    if (!memcmp(adapters[0].gids[i].raw + 12, &address->sin_addr, 4)) return 1;
  }
  errno = EADDRNOTAVAIL;
  return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address) {
  if (failure(&adapters[0], "bind_error") || !has((struct sockaddr_in *)address)) return -1;
  return bind_id(id, address);
}

int rdma_listen(struct rdma_cm_id *id, int backlog) {
  listening = (struct id *)id;
  return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms) {
  if (!has((struct sockaddr_in *)from)) return -1;
  memcpy(&id->route.addr.dst_storage, to, sizeof(struct sockaddr_in));
  bind_id(id, from);
  return announce(id, NULL, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms) {
  return announce(id, NULL, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  struct rdma_cm_id *accepting;
  struct id *peer, *mine = (struct id *)id;
  if (id->route.addr.dst_sin.sin_addr.s_addr != listening->id.route.addr.src_sin.sin_addr.s_addr) {
    return announce(id, NULL, RDMA_CM_EVENT_UNREACHABLE, NULL);
  }
  rdma_create_id(listening->id.channel, &accepting, NULL, id->ps);
  bind_id(accepting, &listening->id.route.addr.src_addr);
  accepting->route.addr.dst_storage = id->route.addr.src_storage;
  peer = (struct id *)accepting;
  peer->peer = mine;
  mine->peer = peer;
  mine->qp_number = peer->peer_qp_number = param->qp_num;
  peer->remote_ece = mine->local_ece;
  return announce(accepting, &listening->id, RDMA_CM_EVENT_CONNECT_REQUEST, param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param) {
  struct id *mine = (struct id *)id;
  mine->qp_number = mine->peer->peer_qp_number = param->qp_num;
  if (!get(&adapters[0], "cm_without_ece")) {
    mine->peer->remote_ece.vendor_id = mine->remote_ece.vendor_id;
    mine->peer->remote_ece.options = mine->local_ece.options;
  }
  return announce(&mine->peer->id, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL);
}

/* As librdmacm: an acceptance carries the vendor of the request. */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece) {
  if (id->qp || !ece->vendor_id || ece->comp_mask) {
    errno = EINVAL;
    return -1;
  }
  ((struct id *)id)->local_ece = *ece;
  return 0;
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece) {
  *ece = ((struct id *)id)->remote_ece;
  return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t size) {
  return announce(&((struct id *)id)->peer->id, NULL, RDMA_CM_EVENT_REJECTED, NULL);
}

int rdma_establish(struct rdma_cm_id *id) { return 0; }

int rdma_disconnect(struct rdma_cm_id *id) { return 0; }

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr) {
  return -1;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr) {
  id->qp = create_qp_ex(id->verbs, attr);
  return id->qp ? 0 : -1;
}

/* As librdmacm: a failure is not reported. */
void rdma_destroy_qp(struct rdma_cm_id *id) {
  ibv_destroy_qp(id->qp);
  id->qp = NULL;
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr) {
  id->srq = ibv_create_srq(pd, attr);
  return id->srq ? 0 : -1;
}

/* As librdmacm: a shared receive queue of type XRC gets the id's completion queue. */
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr) {
  if (attr->srq_type == IBV_SRQT_XRC && !(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ)) {
    id->recv_cq_channel = ibv_create_comp_channel(id->verbs);
    id->recv_cq = ibv_create_cq(id->verbs, attr->attr.max_wr, id, id->recv_cq_channel, 0);
    attr->cq = id->recv_cq;
  }
  id->srq = create_srq_ex(id->verbs, attr);
  return id->srq ? 0 : -1;
}

/* As librdmacm: a failure is not reported. */
void rdma_destroy_srq(struct rdma_cm_id *id) {
  ibv_destroy_srq(id->srq);
  id->srq = NULL;
}

/* As ib_cm_init_qp_attr of the kernel: the P_Key is among what INIT takes. */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask) {
  struct id *mine = (struct id *)id;
  *mask = IBV_QP_STATE;
  if (attr->qp_state == IBV_QPS_INIT) {
    attr->pkey_index = get(&adapters[0], "path_pkey_index");
    attr->port_num = 1;
    *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  } else if (attr->qp_state == IBV_QPS_RTR) {
    attr->path_mtu = IBV_MTU_1024;
    attr->dest_qp_num =
        mine->peer_qp_number ? mine->peer_qp_number : mine->peer ? mine->peer->qp_number : 0;
    *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  } else {
    *mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return 0;
}
