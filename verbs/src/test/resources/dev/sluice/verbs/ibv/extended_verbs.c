/*
 * A driver of the extended verbs that notes each call with its arguments, and the inline functions
 * of verbs.h that call it. One thread at a time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static int64_t notes[256];
static int noted;

static void note(int function, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	int64_t call[] = {function, a, b, c, d};

	if (noted + 5 > 256)
		noted = 0;
	memcpy(&notes[noted], call, sizeof(call));
	noted += 5;
}

/* Moves the notes to the caller; returns their number. */
int c_take_notes(int64_t *into)
{
	int count = noted;

	memcpy(into, notes, count * sizeof(*into));
	noted = 0;
	return count;
}

static void start(struct ibv_qp_ex *qp) { note(0, 0, 0, 0, 0); }

/* Fails with the error number that comp_mask holds. */
static int complete(struct ibv_qp_ex *qp) { note(1, qp->wr_id, qp->wr_flags, 0, 0); return qp->comp_mask; }

static void stop(struct ibv_qp_ex *qp) { note(2, 0, 0, 0, 0); }

static void cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	note(3, rkey, addr, compare, swap);
}

static void fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add) { note(4, rkey, addr, add, 0); }

static void bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	note(5, (uintptr_t)mw, rkey, (uintptr_t)info->mr, info->addr);
	note(5, info->length, info->mw_access_flags, 0, 0);
}

static void local_inv(struct ibv_qp_ex *qp, uint32_t rkey) { note(6, rkey, 0, 0, 0); }
static void rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr) { note(7, rkey, addr, 0, 0); }
static void rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr) { note(8, rkey, addr, 0, 0); }
static void write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm) { note(9, rkey, addr, imm, 0); }
static void plain_send(struct ibv_qp_ex *qp) { note(10, qp->wr_id, qp->wr_flags, 0, 0); }
static void send_imm(struct ibv_qp_ex *qp, __be32 imm) { note(11, imm, 0, 0, 0); }
static void send_inv(struct ibv_qp_ex *qp, uint32_t rkey) { note(12, rkey, 0, 0, 0); }

static void ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	note(13, (uintptr_t)ah, qpn, qkey, 0);
}

static void xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn) { note(14, srqn, 0, 0, 0); }
static void inline_data(struct ibv_qp_ex *qp, void *addr, size_t length) { note(15, (uintptr_t)addr, length, 0, 0); }

static void inline_data_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_data_buf *list)
{
	for (size_t i = 0; i < count; i++)
		note(16, count, (uintptr_t)list[i].addr, list[i].length, 0);
}

static void sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length) { note(17, lkey, addr, length, 0); }

static void sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
	for (size_t i = 0; i < count; i++)
		note(18, count, list[i].addr, list[i].length, list[i].lkey);
}

static void atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *data)
{
	note(19, rkey, addr, *(const uint64_t *)data, 0);
}

static void flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, size_t length, uint8_t type, uint8_t level)
{
	note(20, rkey, addr, length, type << 8 | level);
}

/* A queue pair with all operations; wr_flush lies behind what older headers know. */
int c_fill_qp_ex(struct ibv_qp_ex *qp)
{
	qp->wr_start = start;
	qp->wr_complete = complete;
	qp->wr_abort = stop;
	qp->wr_atomic_cmp_swp = cmp_swp;
	qp->wr_atomic_fetch_add = fetch_add;
	qp->wr_bind_mw = bind_mw;
	qp->wr_local_inv = local_inv;
	qp->wr_rdma_read = rdma_read;
	qp->wr_rdma_write = rdma_write;
	qp->wr_rdma_write_imm = write_imm;
	qp->wr_send = plain_send;
	qp->wr_send_imm = send_imm;
	qp->wr_send_inv = send_inv;
	qp->wr_set_ud_addr = ud_addr;
	qp->wr_set_xrc_srqn = xrc_srqn;
	qp->wr_set_inline_data = inline_data;
	qp->wr_set_inline_data_list = inline_data_list;
	qp->wr_set_sge = sge;
	qp->wr_set_sge_list = sge_list;
	qp->wr_atomic_write = atomic_write;
	((void **)&qp->wr_atomic_write)[1] = flush;
	return 0;
}

int c_set_complete_error(struct ibv_qp_ex *qp, int error) { qp->comp_mask = error; return 0; }

/* One batch of all operations with these operands. */
int c_wr_all(struct ibv_qp_ex *qp, uint32_t key, uint64_t addr, uint64_t x, uint32_t y, void *object, void *mr)
{
	struct ibv_mw_bind_info info = {.mr = mr, .addr = addr, .length = x, .mw_access_flags = 5};
	struct ibv_sge sges[] = {{addr, y, key}, {addr + 1, y + 1, key}};
	struct ibv_data_buf bufs[] = {{(void *)addr, x}, {object, 1}};

	ibv_wr_start(qp);
	qp->wr_id = x;
	qp->wr_flags = y;
	ibv_wr_rdma_read(qp, key, addr);
	ibv_wr_set_sge(qp, key, addr, y);
	ibv_wr_rdma_write(qp, key, addr);
	ibv_wr_set_sge_list(qp, 2, sges);
	ibv_wr_rdma_write_imm(qp, key, addr, htonl(y));
	ibv_wr_set_inline_data(qp, (void *)addr, x);
	ibv_wr_send(qp);
	ibv_wr_set_inline_data_list(qp, 2, bufs);
	ibv_wr_send_imm(qp, htonl(y));
	ibv_wr_set_ud_addr(qp, object, y, key);
	ibv_wr_send_inv(qp, key);
	ibv_wr_set_xrc_srqn(qp, y);
	ibv_wr_local_inv(qp, key);
	ibv_wr_atomic_cmp_swp(qp, key, addr, x, x + 1);
	ibv_wr_atomic_fetch_add(qp, key, addr, x);
	ibv_wr_atomic_write(qp, key, addr, &x);
	ibv_wr_bind_mw(qp, object, key, &info);
	flush(qp, key, addr, x, 2, 1);
	ibv_wr_complete(qp);
	ibv_wr_start(qp);
	ibv_wr_abort(qp);
	return 0;
}

/* A completion queue of as many completions as comp_events_completed says. */
static int next_poll(struct ibv_cq_ex *cq)
{
	if (cq->comp_events_completed == 0)
		return cq->async_events_completed ? cq->async_events_completed : ENOENT;
	cq->comp_events_completed--;
	cq->wr_id = 0x1122334455667788;
	cq->status = IBV_WC_REM_OP_ERR;
	return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	return attr->comp_mask ? EINVAL : next_poll(cq);
}

static void end_poll(struct ibv_cq_ex *cq) { note(30, 0, 0, 0, 0); }
static enum ibv_wc_opcode opcode(struct ibv_cq_ex *cq) { return IBV_WC_RECV_RDMA_WITH_IMM; }
static uint32_t vendor_err(struct ibv_cq_ex *cq) { return 0x80000001; }
static uint32_t byte_len(struct ibv_cq_ex *cq) { return 0x80000002; }
static __be32 imm_data(struct ibv_cq_ex *cq) { return htonl(0x80000003); }
static uint32_t qp_num(struct ibv_cq_ex *cq) { return 4; }
static uint32_t src_qp(struct ibv_cq_ex *cq) { return 5; }
static unsigned int wc_flags(struct ibv_cq_ex *cq) { return 6; }
static uint32_t slid(struct ibv_cq_ex *cq) { return 7; }
static uint8_t sl(struct ibv_cq_ex *cq) { return 0xf8; }
static uint8_t dlid_path_bits(struct ibv_cq_ex *cq) { return 0xf9; }
static uint64_t completion_ts(struct ibv_cq_ex *cq) { return 0x800000000000000a; }
static uint16_t cvlan(struct ibv_cq_ex *cq) { return 0xf00b; }
static uint32_t flow_tag(struct ibv_cq_ex *cq) { return 12; }

static void tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *info)
{
	info->tag = 0x800000000000000d;
	info->priv = 14;
}

static uint64_t wallclock(struct ibv_cq_ex *cq) { return 15; }

int c_fill_cq_ex(struct ibv_cq_ex *cq, int completions, int error)
{
	cq->comp_events_completed = completions;
	cq->async_events_completed = error;
	cq->start_poll = start_poll;
	cq->next_poll = next_poll;
	cq->end_poll = end_poll;
	cq->read_opcode = opcode;
	cq->read_vendor_err = vendor_err;
	cq->read_byte_len = byte_len;
	cq->read_imm_data = imm_data;
	cq->read_qp_num = qp_num;
	cq->read_src_qp = src_qp;
	cq->read_wc_flags = wc_flags;
	cq->read_slid = slid;
	cq->read_sl = sl;
	cq->read_dlid_path_bits = dlid_path_bits;
	cq->read_completion_ts = completion_ts;
	cq->read_cvlan = cvlan;
	cq->read_flow_tag = flow_tag;
	cq->read_tm_info = tm_info;
	cq->read_completion_wallclock_ns = wallclock;
	return 0;
}

/* XRC: each function notes what it is given, and hands out the object of the test. */
static struct ibv_xrcd xrcd;
static struct ibv_srq srq;
static struct ibv_qp xrc_qp;
static int failing;

static void *give(void *object)
{
	errno = failing;
	return failing ? NULL : object;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	note(40, attr->comp_mask, attr->fd, attr->oflags, 0);
	return give(&xrcd);
}

static int close_xrcd(struct ibv_xrcd *closed) { note(41, closed == &xrcd, 0, 0, 0); return failing; }

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	note(42, attr->comp_mask, attr->srq_type, attr->attr.max_wr, attr->attr.max_sge);
	note(42, attr->xrcd == &xrcd, (uintptr_t)attr->pd, (uintptr_t)attr->cq,
	     attr->tm_cap.max_num_tags << 16 | attr->tm_cap.max_ops);
	return give(&srq);
}

static int get_srq_num(struct ibv_srq *of, uint32_t *number) { *number = 0x123456; return failing; }

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	note(43, attr->comp_mask, attr->qp_type, attr->xrcd == &xrcd, (uintptr_t)attr->pd);
	note(43, attr->send_ops_flags, attr->create_flags, attr->source_qpn, attr->cap.max_send_wr);
	return give(&xrc_qp);
}

static struct ibv_qp *open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	note(44, attr->comp_mask, attr->qp_num, attr->xrcd == &xrcd, attr->qp_type);
	return give(&xrc_qp);
}

int c_fill_context(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx(context);

	verbs->open_xrcd = open_xrcd;
	verbs->close_xrcd = close_xrcd;
	verbs->create_srq_ex = create_srq_ex;
	verbs->get_srq_num = get_srq_num;
	verbs->create_qp_ex = create_qp_ex;
	verbs->open_qp = open_qp;
	return 0;
}

int c_fail(int error) { failing = error; return 0; }
