/*
 * A libibverbs.so.1 of two adapters that are only memory: what no build machine has and every user
 * may. Tests turn "knobs" of an adapter, and ask how often something was called. READs are done
 * when they are posted, within the process.
 *
 * With the knob "latency_ns", turned before there is a channel, an adapter is as fast as no memory
 * is: it copies nothing, and completes READs so much later. No thread does so: what is due is found
 * when it is polled, and the kernel's timer stands for the interrupt.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#undef ibv_query_port
#undef ibv_reg_mr
#define ADAPTERS 2
#define GIDS 4
#define PKEYS 4
#define OBJECTS 4096
#define KNOBS 64

struct knob { const char *name; long value; };

static struct adapter {
  struct ibv_device device;
  struct knob knobs[KNOBS];
  union ibv_gid gids[GIDS];
  uint32_t gid_types[GIDS];
  uint16_t pkeys[PKEYS];
  int events[2];
  int channels[2];
  struct ibv_qp *qps[OBJECTS];
  struct ibv_qp_attr attrs[OBJECTS];
  uint32_t asked_ece[OBJECTS], ece[OBJECTS];
  struct ibv_mr *mrs[OBJECTS];
  struct srq *srqs[OBJECTS];
  uint32_t numbers;
  long *hold, *latency_ns;
  struct ibv_cq *timed;
} adapters[ADAPTERS];

static int held_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct adapter *of_device(struct ibv_device *device) { return (struct adapter *)device; }

static struct adapter *of(struct ibv_context *context) { return of_device(context->device); }

static long *knob(struct adapter *adapter, const char *name) {
  struct knob *found = adapter->knobs;
  pthread_mutex_lock(&lock);
  while (found->name && strcmp(found->name, name)) found++;
  if (!found->name) found->name = strdup(name);
  pthread_mutex_unlock(&lock);
  return &found->value;
}

static long get(struct adapter *adapter, const char *name) { return *knob(adapter, name); }

static void count(struct adapter *adapter, const char *name) {
  __atomic_fetch_add(knob(adapter, name), 1, __ATOMIC_SEQ_CST);
}

/* Fails with the error number that a knob holds, as C functions do that return one. */
static int failure(struct adapter *adapter, const char *name) {
  errno = get(adapter, name);
  return errno;
}

/* What tests call. */

void fake_reset(void) {
  held_count = 0;
  for (int i = 0; i < ADAPTERS; i++) {
    struct adapter *a = &adapters[i];
    memset(a, 0, sizeof *a);
    a->device.node_type = IBV_NODE_CA;
    a->device.transport_type = IBV_TRANSPORT_IB;
    strcpy(a->device.name, i ? "mlx5_1" : "mlx5_0");
    strcpy(a->device.dev_name, i ? "uverbs1" : "uverbs0");
    strcpy(a->device.dev_path, i ? "/dev/infiniband/uverbs1" : "/dev/infiniband/uverbs0");
    strcpy(a->device.ibdev_path, "/nonexistent");
    a->gids[0].raw[10] = a->gids[0].raw[11] = 0xff;
    a->gids[0].raw[12] = 10;
    a->gids[0].raw[15] = 1 + i;
    a->gid_types[0] = IBV_GID_TYPE_ROCE_V2;
    a->pkeys[0] = a->pkeys[2] = htobe16(0xffff);
    *knob(a, "state") = IBV_PORT_ACTIVE;
    *knob(a, "link_layer") = IBV_LINK_LAYER_ETHERNET;
    *knob(a, "max_mtu") = IBV_MTU_4096;
    *knob(a, "active_mtu") = IBV_MTU_4096;
    *knob(a, "max_qp_wr") = 1024;
    *knob(a, "max_send_wr") = 1024;
    *knob(a, "vectors") = 8;
    a->hold = knob(a, "hold");
    a->latency_ns = knob(a, "latency_ns");
  }
}

void fake_set(int adapter, const char *name, long value) { *knob(&adapters[adapter], name) = value; }

long fake_get(int adapter, const char *name) { return get(&adapters[adapter], name); }

void fake_gid(int adapter, int index, int type, const uint8_t *raw) {
  memcpy(adapters[adapter].gids[index].raw, raw, 16);
  adapters[adapter].gid_types[index] = type;
}

/* An event of the device, the port 1, or of the queue pair of a number. */
void fake_event(int adapter, int type, int qp_number) {
  struct ibv_async_event event = {.event_type = type};
  struct adapter *a = &adapters[adapter];
  event.element.port_num = 1;
  for (int i = 0; qp_number && i < OBJECTS; i++)
    if (a->qps[i] && a->qps[i]->qp_num == (uint32_t)qp_number) {
      event.element.qp = a->qps[i];
      a->qps[i]->state = IBV_QPS_ERR;
    }
  if (write(a->events[1], &event, sizeof event) < 0) abort();
}

/* An event of the completion queue with a channel that was created last. */
void fake_cq_event(int adapter) {
  struct adapter *a = &adapters[adapter];
  if (write(a->channels[1], &a->timed, sizeof a->timed) < 0) abort();
}

/* The adapter is taken out: the kernel says so once, and then all that is read of it is EIO. */
void fake_remove(int adapter) {
  fake_event(adapter, IBV_EVENT_DEVICE_FATAL, 0);
  close(adapters[adapter].events[1]);
  fake_set(adapter, "removed", 1);
  if (adapters[adapter].channels[1]) close(adapters[adapter].channels[1]);
}

/* Devices. */

struct ibv_device **ibv_get_device_list(int *count) {
  struct ibv_device **list = calloc(ADAPTERS + 1, sizeof *list);
  for (int i = 0; i < ADAPTERS; i++) list[i] = &adapters[i].device;
  if (count) *count = ADAPTERS;
  return list;
}

void ibv_free_device_list(struct ibv_device **list) { free(list); }

__be64 ibv_get_device_guid(struct ibv_device *device) { return htobe64(1); }

int ibv_get_device_index(struct ibv_device *device) { return of_device(device) - adapters; }

int ibv_fork_init(void) { return 0; }

enum ibv_fork_status ibv_is_fork_initialized(void) { return IBV_FORK_UNNEEDED; }

const char *ibv_port_state_str(enum ibv_port_state state) { return "a state"; }

const char *ibv_wc_status_str(enum ibv_wc_status status) { return "a status"; }

const char *ibv_event_type_str(enum ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_DEVICE_FATAL: return "local catastrophic error";
    case IBV_EVENT_PORT_ERR: return "port error";
    default: return "an event";
  }
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
                      size_t size) {
  struct adapter *a = of(context);
  count(a, "query_port");
  if (failure(a, "query_port_error")) return errno;
  memset(attr, 0, size);
  attr->state = get(a, "state");
  attr->max_mtu = get(a, "max_mtu");
  attr->active_mtu = get(a, "active_mtu");
  attr->gid_tbl_len = GIDS;
  attr->pkey_tbl_len = PKEYS;
  attr->max_msg_sz = 1U << 30;
  attr->lid = get(a, "lid");
  attr->link_layer = get(a, "link_layer");
  attr->flags = get(a, "flags");
  return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr) {
  return ENOSYS;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr) {
  struct adapter *a = of(context);
  memset(attr, 0, sizeof *attr);
  attr->phys_port_cnt = 1;
  attr->max_qp = 1024;
  attr->max_qp_wr = get(a, "max_qp_wr");
  attr->max_cqe = 1 << 16;
  attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 16;
  attr->atomic_cap = get(a, "atomic_cap");
  attr->device_cap_flags = get(a, "device_cap_flags");
  return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *in,
                           struct ibv_device_attr_ex *attr, size_t size) {
  memset(attr, 0, size);
  return ibv_query_device(context, &attr->orig_attr);
}

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc);
static int req_notify_cq(struct ibv_cq *cq, int solicited_only);
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init);
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init);
static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
static int dealloc_mw(struct ibv_mw *mw);
static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
static int close_xrcd(struct ibv_xrcd *xrcd);
static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init);
static int get_srq_num(struct ibv_srq *srq, uint32_t *number);
static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

struct ibv_context *ibv_open_device(struct ibv_device *device) {
  struct adapter *a = of_device(device);
  struct verbs_context *verbs = calloc(1, sizeof *verbs);
  count(a, "open_device");
  if (failure(a, "open_device_error")) return NULL;
  verbs->sz = sizeof *verbs;
  verbs->query_port = query_port;
  verbs->query_device_ex = query_device_ex;
  verbs->create_qp_ex = create_qp_ex;
  verbs->create_cq_ex = create_cq_ex;
  verbs->open_xrcd = open_xrcd;
  verbs->close_xrcd = close_xrcd;
  verbs->create_srq_ex = create_srq_ex;
  verbs->get_srq_num = get_srq_num;
  verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  verbs->context.device = device;
  verbs->context.ops.poll_cq = poll_cq;
  verbs->context.ops.req_notify_cq = req_notify_cq;
  verbs->context.ops.post_send = post_send;
  verbs->context.ops.post_srq_recv = post_srq_recv;
  verbs->context.ops.alloc_mw = alloc_mw;
  verbs->context.ops.dealloc_mw = dealloc_mw;
  verbs->context.num_comp_vectors = get(a, "vectors");
  if (pipe2(a->events, O_CLOEXEC)) return NULL;
  verbs->context.async_fd = a->events[0];
  return &verbs->context;
}

int ibv_close_device(struct ibv_context *context) {
  struct adapter *a = of(context);
  count(a, "close_device");
  if (failure(a, "close_device_error")) return -1;
  close(context->async_fd);
  if (context->async_fd == a->events[0] && !get(a, "removed")) close(a->events[1]);
  return 0;
}

/* The knob holds the first index of a table that can be read. */
static int unreadable(struct ibv_context *context, int index, const char *knob) {
  if (index >= get(of(context), knob)) return 0;
  errno = EIO;
  return 1;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid) {
  if (unreadable(context, index, "first_gid")) return -1;
  *gid = of(context)->gids[index];
  return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t size) {
  struct adapter *a = of(context);
  if (failure(a, "query_gid_ex_error")) return errno;
  memset(entry, 0, size);
  entry->gid = a->gids[index];
  entry->gid_index = index;
  entry->port_num = port;
  entry->ndev_ifindex = get(a, "ifindex");
  entry->gid_type = index == 0 && get(a, "gid_type_of_0") ? get(a, "gid_type_of_0") : a->gid_types[index];
  return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                             size_t max, uint32_t flags, size_t size) {
  static const union ibv_gid none;
  ssize_t count = 0;
  for (int i = 0; i < GIDS; i++) {
    if (!memcmp(&of(context)->gids[i], &none, sizeof none)) continue;
    if (count == max) return -EINVAL;
    int error = _ibv_query_gid_ex(context, 1, i, &entries[count++], flags, size);
    if (error) return -error;
  }
  return count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey) {
  if (unreadable(context, index, "first_pkey")) return -1;
  *pkey = of(context)->pkeys[index];
  return 0;
}

/* A pipe's end stands for the kernel's EIO. */
static int take(int fd, void *into, size_t size) {
  ssize_t count = read(fd, into, size);
  if (count == 0) errno = EIO;
  return count == (ssize_t)size ? 0 : -1;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event) {
  return take(context->async_fd, event, sizeof *event);
}

void ibv_ack_async_event(struct ibv_async_event *event) {}

/* Memory. */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
  struct ibv_pd *pd = calloc(1, sizeof *pd);
  pd->context = context;
  return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) { return 0; }

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access) {
  struct adapter *a = of(pd->context);
  struct ibv_mr *mr = calloc(1, sizeof *mr);
  if (failure(a, access & IBV_ACCESS_OPTIONAL_RANGE ? "reg_mr_iova2_error" : "reg_mr_error"))
    return NULL;
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = addr;
  mr->length = length;
  pthread_mutex_lock(&lock);
  mr->lkey = mr->rkey = ++a->numbers;
  a->mrs[mr->rkey % OBJECTS] = mr;
  pthread_mutex_unlock(&lock);
  fake_set(a - adapters, "last_access", access);
  return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) {
  return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

int ibv_dereg_mr(struct ibv_mr *mr) {
  of(mr->context)->mrs[mr->rkey % OBJECTS] = NULL;
  return 0;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
                                 int fd, int access) {
  fake_set(of(pd->context) - adapters, "mr_fd", fd);
  fake_set(of(pd->context) - adapters, "mr_iova", iova);
  return ibv_reg_mr_iova2(pd, (void *)(uintptr_t)offset, length, iova, access);
}

/* Functions of rdma-core 59 to 65, by names of their own: the installed headers may be older. */

struct mr_init_attr {
  size_t length;
  int access;
  uint64_t comp_mask, iova;
  void *addr;
  int fd;
  uint64_t fd_offset;
  struct ibv_dmah *dmah;
  struct buf *buf;
};

struct buf { struct ibv_pd *pd; char *memory; size_t size; };

struct dmah { struct ibv_context *context; };

struct dmah_init_attr { uint32_t comp_mask, cpu_id; uint8_t ph, tph_mem_type; };

struct ibv_mr *fake_reg_mr_ex(struct ibv_pd *pd, struct mr_init_attr *attr) __asm__("ibv_reg_mr_ex");
struct ibv_mr *fake_reg_mr_ex(struct ibv_pd *pd, struct mr_init_attr *attr) {
  int adapter = of(pd->context) - adapters;
  fake_set(adapter, "mr_mask", attr->comp_mask);
  fake_set(adapter, "mr_iova", attr->iova);
  fake_set(adapter, "mr_fd", attr->fd);
  fake_set(adapter, "mr_fd_offset", attr->fd_offset);
  fake_set(adapter, "mr_dmah", (intptr_t)attr->dmah);
  fake_set(adapter, "mr_buf", (intptr_t)attr->buf);
  return ibv_reg_mr_iova2(pd, attr->addr, attr->length, attr->iova, attr->access);
}

void *fake_alloc_buf(struct ibv_pd *pd, size_t size, struct buf **handle) __asm__("ibv_alloc_buf");
void *fake_alloc_buf(struct ibv_pd *pd, size_t size, struct buf **handle) {
  struct buf *buf = calloc(1, sizeof *buf);
  if (failure(of(pd->context), "alloc_buf_error")) return NULL;
  buf->pd = pd;
  buf->size = size;
  buf->memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  *handle = buf;
  return buf->memory;
}

void fake_free_buf(struct buf *buf) __asm__("ibv_free_buf");
void fake_free_buf(struct buf *buf) {
  count(of(buf->pd->context), "free_buf");
  fake_set(of(buf->pd->context) - adapters, "mrs_at_free", 0);
  for (int i = 0; i < OBJECTS; i++)
    if (of(buf->pd->context)->mrs[i]) count(of(buf->pd->context), "mrs_at_free");
  free(buf->memory);
}

struct ibv_mr *fake_reg_buf_mr(struct ibv_pd *pd, struct buf *buf, void *addr, size_t length,
                               int access) __asm__("ibv_reg_buf_mr");
struct ibv_mr *fake_reg_buf_mr(struct ibv_pd *pd, struct buf *buf, void *addr, size_t length,
                               int access) {
  if (pd != buf->pd || (char *)addr < buf->memory ||
      (char *)addr + length > buf->memory + buf->size) {
    errno = EINVAL;
    return NULL;
  }
  return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access);
}

int fake_export_buf_dmabuf_fd(struct buf *buf) __asm__("ibv_export_buf_dmabuf_fd");
int fake_export_buf_dmabuf_fd(struct buf *buf) {
  int fd = get(of(buf->pd->context), "dmabuf_fd");
  errno = ENODATA;
  return fd ? fd : -1;
}

struct dmah *fake_alloc_dmah(struct ibv_context *context, struct dmah_init_attr *attr)
    __asm__("ibv_alloc_dmah");
struct dmah *fake_alloc_dmah(struct ibv_context *context, struct dmah_init_attr *attr) {
  struct dmah *dmah = calloc(1, sizeof *dmah);
  int adapter = of(context) - adapters;
  if (failure(of(context), "alloc_dmah_error")) return NULL;
  fake_set(adapter, "dmah_mask", attr->comp_mask);
  fake_set(adapter, "dmah_cpu", attr->cpu_id);
  fake_set(adapter, "dmah_ph", attr->ph);
  fake_set(adapter, "dmah_memory", attr->tph_mem_type);
  dmah->context = context;
  return dmah;
}

int fake_dealloc_dmah(struct dmah *dmah) __asm__("ibv_dealloc_dmah");
int fake_dealloc_dmah(struct dmah *dmah) {
  count(of(dmah->context), "dealloc_dmah");
  return 0;
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) {
  struct ibv_mw *mw = calloc(1, sizeof *mw);
  mw->context = pd->context;
  mw->pd = pd;
  mw->type = type;
  return mw;
}

static int dealloc_mw(struct ibv_mw *mw) { return 0; }

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr) {
  struct ibv_xrcd *xrcd = calloc(1, sizeof *xrcd);
  xrcd->context = context;
  return xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd) { return 0; }

/* Completions. */

struct entry { int64_t due_ns; struct ibv_wc wc; };

struct queue {
  union { struct ibv_cq cq; struct ibv_cq_ex cq_ex; };
  pthread_mutex_t lock;
  int armed;
  unsigned head, tail, mask;
  struct entry *entries;
};

static int64_t nanos(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
  struct adapter *a = of(context);
  struct ibv_comp_channel *channel = calloc(1, sizeof *channel);
  if (*a->latency_ns) {
    a->channels[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    a->channels[1] = -1;
  } else if (pipe2(a->channels, O_CLOEXEC)) {
    return NULL;
  }
  channel->context = context;
  channel->fd = a->channels[0];
  return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  struct adapter *a = of(channel->context);
  if (failure(a, "destroy_comp_channel_error")) return errno;
  count(a, "destroy_comp_channel");
  close(channel->fd);
  if (!get(a, "removed") && a->channels[1] > 0) close(a->channels[1]);
  a->channels[1] = 0;
  return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int vector) {
  struct queue *queue = get(of(context), "same_address") ? (struct queue *)of(context)->timed
                                                         : calloc(1, sizeof *queue);
  unsigned size = OBJECTS;
  while (size < (unsigned)cqe) size *= 2;
  pthread_mutex_init(&queue->lock, NULL);
  queue->mask = size - 1;
  queue->entries = calloc(size, sizeof *queue->entries);
  queue->cq.context = context;
  queue->cq.channel = channel;
  queue->cq.cqe = cqe;
  if (channel) {
    fake_set(of(context) - adapters, "vector", vector);
    of(context)->timed = &queue->cq;
  }
  return &queue->cq;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
                                      struct ibv_cq_init_attr_ex *init) {
  return (struct ibv_cq_ex *)ibv_create_cq(context, init->cqe, init->cq_context, init->channel,
                                           init->comp_vector);
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe) { return ENOSYS; }

/* With the knob "destroy_cq_hangs" it is late to say so: its memory is free for others already. */
int ibv_destroy_cq(struct ibv_cq *cq) {
  struct adapter *a = of(cq->context);
  while (get(a, "destroy_cq_hangs")) {
    fake_set(a - adapters, "is_destroying_cq", 1);
    usleep(1000);
  }
  count(a, "destroy_cq");
  return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context) {
  struct adapter *a = of(channel->context);
  uint64_t expirations;
  count(a, "get_cq_event");
  *cq_context = NULL;
  if (!*a->latency_ns) return take(channel->fd, cq, sizeof *cq);
  *cq = a->timed;
  return take(channel->fd, &expirations, sizeof expirations);
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events) {}

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc) {
  struct queue *queue = (struct queue *)cq;
  int64_t now = 0;
  int count = 0;
  pthread_mutex_lock(&queue->lock);
  while (count < entries && queue->head != queue->tail) {
    struct entry *entry = &queue->entries[queue->head & queue->mask];
    if (entry->due_ns > now && entry->due_ns > (now = nanos())) break;
    wc[count++] = entry->wc;
    queue->head++;
  }
  pthread_mutex_unlock(&queue->lock);
  return count;
}

/* The event, when it is time, where the queue is armed and something completes or will. */
static void notify(struct queue *queue) {
  struct adapter *a = of(queue->cq.context);
  struct itimerspec timer = {0};
  int64_t due_ns;
  if (!queue->cq.channel || queue->head == queue->tail ||
      !__atomic_exchange_n(&queue->armed, 0, __ATOMIC_SEQ_CST))
    return;
  count(a, "cq_events");
  due_ns = queue->entries[queue->head & queue->mask].due_ns;
  if (due_ns) {
    timer.it_value.tv_sec = due_ns / 1000000000;
    timer.it_value.tv_nsec = due_ns % 1000000000;
    if (timerfd_settime(a->channels[0], TFD_TIMER_ABSTIME, &timer, NULL)) abort();
  } else {
    struct ibv_cq *cq = &queue->cq;
    if (write(a->channels[1], &cq, sizeof cq) < 0) abort();
  }
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only) {
  struct queue *queue = (struct queue *)cq;
  __atomic_store_n(&queue->armed, 1, __ATOMIC_SEQ_CST);
  if (*of(cq->context)->latency_ns) notify(queue);
  return 0;
}

/* With the queue's lock. */
static void complete(struct ibv_qp *qp, struct ibv_send_wr *wr, int64_t due_ns, int status,
                     int vendor_error) {
  struct queue *queue = (struct queue *)qp->send_cq;
  struct entry *entry = &queue->entries[queue->tail++ & queue->mask];
  memset(&entry->wc, 0, sizeof entry->wc);
  entry->due_ns = due_ns;
  entry->wc.wr_id = wr->wr_id;
  entry->wc.status = status;
  entry->wc.vendor_err = vendor_error;
  entry->wc.qp_num = qp->qp_num;
}

/* Queue pairs. */

#define UNIT 64 /* bytes of a send queue, of which a work request takes whole ones */

/* As mlx5 does it: segments of 16 bytes and more, by the operation that needs most of them. */
static long send_wr_bytes(uint64_t ops, long sges) {
  long bytes = 16;
  if (ops & (IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE)) bytes = 32;
  if (ops & (IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)) bytes = 48;
  if (ops & (IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV)) bytes = 192;
  return (bytes + 16 * sges + UNIT - 1) / UNIT * UNIT;
}

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_pd *pd,
                                struct ibv_qp_init_attr *init, uint64_t ops) {
  struct adapter *a = of(context);
  long wanted = init->cap.max_send_wr * send_wr_bytes(ops, init->cap.max_send_sge), bytes = UNIT;
  long number = get(a, "qp_number");
  struct ibv_qp *qp;
  count(a, "create_qp");
  while (bytes < wanted) bytes *= 2;
  if (bytes / UNIT > get(a, "max_send_wr")) {
    count(a, "create_qp_refused");
    errno = ENOMEM;
    return NULL;
  }
  __atomic_fetch_add(knob(a, "qp_bytes"), (bytes + 4096 + 4095) / 4096 * 4096, __ATOMIC_SEQ_CST);
  qp = calloc(1, sizeof(struct ibv_qp_ex));
  qp->context = context;
  qp->pd = pd;
  qp->send_cq = init->send_cq;
  qp->recv_cq = init->recv_cq;
  qp->qp_type = init->qp_type;
  pthread_mutex_lock(&lock);
  qp->qp_num = number ? number : ++a->numbers;
  a->qps[qp->qp_num % OBJECTS] = qp;
  pthread_mutex_unlock(&lock);
  a->asked_ece[qp->qp_num % OBJECTS] = 0;
  a->ece[qp->qp_num % OBJECTS] = get(a, "ece_options");
  return qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init) {
  return create_qp(pd->context, pd, init, ~0UL);
}

static void wr_send(struct ibv_qp_ex *qp) { count(of(qp->qp_base.context), "wr_send"); }

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init) {
  struct ibv_qp *qp;
  int of_domain = init->qp_type == IBV_QPT_XRC_RECV;
  int has_ops = init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  if (failure(of(context), "create_qp_ex_error")) return NULL;
  if ((init->comp_mask & ~IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) !=
      (of_domain ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD)) {
    errno = EINVAL;
    return NULL;
  }
  qp = create_qp(context, of_domain ? NULL : init->pd, (struct ibv_qp_init_attr *)init,
                 has_ops ? init->send_ops_flags : ~0UL);
  if (qp) ((struct ibv_qp_ex *)qp)->wr_send = wr_send;
  return qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { return (struct ibv_qp_ex *)qp; }

/* Waits while the peer's address, known by its last byte, does not resolve. */
static void await_address(struct adapter *a, const union ibv_gid *gid) {
  while (get(a, "unresolvable") && get(a, "unresolvable") == gid->raw[15]) {
    fake_set(a - adapters, "is_resolving", 1);
    usleep(1000);
  }
}

/* ECE as mlx5 has it: the options that are asked for are masked when the queue pair goes to RTR. */

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece) {
  struct adapter *a = of(qp->context);
  if (!get(a, "ece_vendor")) return EOPNOTSUPP;
  ece->vendor_id = get(a, "ece_vendor");
  ece->options = a->ece[qp->qp_num % OBJECTS];
  ece->comp_mask = 0;
  return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece) {
  struct adapter *a = of(qp->context);
  count(a, "set_ece");
  if (!get(a, "ece_vendor")) return EOPNOTSUPP;
  if (failure(a, "set_ece_error")) return errno;
  if (ece->comp_mask || ece->vendor_id != get(a, "ece_vendor")) return EINVAL;
  a->asked_ece[qp->qp_num % OBJECTS] = ece->options;
  a->ece[qp->qp_num % OBJECTS] = 0;
  return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) {
  struct adapter *a = of(qp->context);
  struct ibv_qp_attr *mine = &a->attrs[qp->qp_num % OBJECTS];
  if (get(a, "removed")) return EIO;
  if (mask & IBV_QP_STATE) {
    mine->qp_state = qp->state = attr->qp_state;
    if (attr->qp_state == IBV_QPS_RTR) {
      await_address(a, &attr->ah_attr.grh.dgid);
      a->ece[qp->qp_num % OBJECTS] = a->asked_ece[qp->qp_num % OBJECTS] & get(a, "ece_options");
    }
  }
  if (mask & IBV_QP_AV) {
    mine->ah_attr = attr->ah_attr;
    *knob(a, "sgid_index") = attr->ah_attr.grh.sgid_index;
  }
  if (mask & IBV_QP_DEST_QPN) mine->dest_qp_num = attr->dest_qp_num;
  if (attr->qp_state == IBV_QPS_RTR && !(mask & IBV_QP_PKEY_INDEX)) count(a, "rtr_without_partition");
  if (mask & IBV_QP_PKEY_INDEX) *knob(a, "pkey_index") = attr->pkey_index;
  return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init) {
  count(of(qp->context), "query_qp");
  memset(attr, 0, sizeof *attr);
  attr->qp_state = qp->state;
  return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) {
  struct adapter *a = of(qp->context);
  if (get(a, "removed")) return EIO;
  if (get(a, "destroy_qp_error")) return get(a, "destroy_qp_error");
  count(a, "destroy_qp");
  a->qps[qp->qp_num % OBJECTS] = NULL;
  while (get(a, "destroy_qp_hangs")) {
    fake_set(a - adapters, "is_destroying_qp", 1);
    usleep(1000);
  }
  return 0;
}

static struct { struct ibv_qp *qp; struct ibv_send_wr wr; } held[64];

/* READs that were posted while they were held succeed. */
void fake_release(void) {
  for (int i = 0; i < held_count; i++) {
    struct queue *queue = (struct queue *)held[i].qp->send_cq;
    pthread_mutex_lock(&queue->lock);
    complete(held[i].qp, &held[i].wr, 0, IBV_WC_SUCCESS, 0);
    pthread_mutex_unlock(&queue->lock);
    notify(queue);
  }
  held_count = 0;
}

/* XRC: messages go to a receive queue of any adapter of this process. */

struct srq {
  struct ibv_srq srq;
  struct ibv_cq *cq;
  uint32_t number, head, tail;
  struct { uint64_t wr_id; struct ibv_sge sge; } receives[64];
};

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init) {
  struct adapter *a = of(context);
  struct srq *srq = calloc(1, sizeof *srq);
  srq->srq.context = context;
  srq->srq.pd = init->pd;
  srq->cq = init->cq;
  pthread_mutex_lock(&lock);
  srq->number = ++a->numbers;
  a->srqs[srq->number % OBJECTS] = srq;
  pthread_mutex_unlock(&lock);
  return &srq->srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number) {
  *number = ((struct srq *)srq)->number;
  return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  struct srq *into = (struct srq *)srq;
  struct queue *queue = (struct queue *)into->cq;
  pthread_mutex_lock(&queue->lock);
  for (; wr; wr = wr->next, into->tail++) {
    into->receives[into->tail % 64].wr_id = wr->wr_id;
    into->receives[into->tail % 64].sge = *wr->sg_list;
  }
  pthread_mutex_unlock(&queue->lock);
  return 0;
}

static struct srq *destination(struct ibv_qp *qp, struct ibv_send_wr *wr) {
  struct ibv_qp_attr *attr = &of(qp->context)->attrs[qp->qp_num % OBJECTS];
  for (int i = 0; i < ADAPTERS; i++)
    if (!memcmp(&adapters[i].gids[0], &attr->ah_attr.grh.dgid, sizeof attr->ah_attr.grh.dgid))
      return adapters[i].srqs[wr->qp_type.xrc.remote_srqn % OBJECTS];
  return NULL;
}

static int send_xrc(struct ibv_qp *qp, struct ibv_send_wr *wr) {
  struct srq *srq = destination(qp, wr);
  struct queue *sent = (struct queue *)qp->send_cq, *queue = srq ? (struct queue *)srq->cq : NULL;
  int received = 0;
  if (queue) {
    pthread_mutex_lock(&queue->lock);
    received = srq->head != srq->tail;
    if (received) {
      uint64_t wr_id = srq->receives[srq->head % 64].wr_id;
      struct ibv_sge *sge = &srq->receives[srq->head++ % 64].sge;
      struct entry *entry = &queue->entries[queue->tail++ & queue->mask];
      memcpy((void *)sge->addr, (void *)wr->sg_list->addr, wr->sg_list->length);
      memset(entry, 0, sizeof *entry);
      entry->wc.wr_id = wr_id;
      entry->wc.opcode = IBV_WC_RECV;
      entry->wc.byte_len = wr->sg_list->length;
      entry->wc.qp_num = of(qp->context)->attrs[qp->qp_num % OBJECTS].dest_qp_num;
      count(of(srq->srq.context), "xrc_received");
    }
    pthread_mutex_unlock(&queue->lock);
    notify(queue);
  }
  if (!received || wr->send_flags & IBV_SEND_SIGNALED) {
    pthread_mutex_lock(&sent->lock);
    complete(qp, wr, 0, received ? IBV_WC_SUCCESS : IBV_WC_RNR_RETRY_EXC_ERR, 0);
    pthread_mutex_unlock(&sent->lock);
  }
  return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  struct adapter *a = of(qp->context);
  struct queue *queue = (struct queue *)qp->send_cq;
  if (qp->qp_type == IBV_QPT_XRC_SEND) return send_xrc(qp, wr);
  int64_t now = *a->latency_ns ? nanos() : 0;
  pthread_mutex_lock(&queue->lock);
  for (; wr; wr = wr->next) {
    struct ibv_mr *mr = a->mrs[wr->wr.rdma.rkey % OBJECTS];
    int64_t due_ns = 0;
    if (*a->hold) {
      held[held_count].qp = qp;
      held[held_count++].wr = *wr;
      continue;
    }
    if (!mr || mr->rkey != wr->wr.rdma.rkey) {
      complete(qp, wr, 0, IBV_WC_REM_ACCESS_ERR, get(a, "vendor_error"));
      continue;
    }
    if (now)
      due_ns = now + *a->latency_ns;
    else if (wr->num_sge)
      memcpy((void *)wr->sg_list->addr, (void *)wr->wr.rdma.remote_addr, wr->sg_list->length);
    if (wr->send_flags & IBV_SEND_SIGNALED) complete(qp, wr, due_ns, IBV_WC_SUCCESS, 0);
  }
  pthread_mutex_unlock(&queue->lock);
  notify(queue);
  return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init) {
  struct ibv_srq *srq = calloc(1, sizeof *srq);
  srq->context = pd->context;
  srq->pd = pd;
  return srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask) { return ENOSYS; }

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr) { return ENOSYS; }

int ibv_destroy_srq(struct ibv_srq *srq) {
  struct adapter *a = of(srq->context);
  if (get(a, "destroy_srq_error")) return get(a, "destroy_srq_error");
  count(a, "destroy_srq");
  return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr) {
  struct ibv_ah *ah = calloc(1, sizeof *ah);
  ah->context = pd->context;
  ah->pd = pd;
  return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah) { return 0; }
