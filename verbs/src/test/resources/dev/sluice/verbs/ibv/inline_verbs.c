/*
 * The inline functions of verbs.h, with structures that C fills and reads by the names of their
 * members. One thread at a time.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <string.h>

static struct ibv_send_wr wr;
static struct ibv_sge sg_list[4];

int c_add(uint64_t wr_id, int opcode, int send_flags)
{
	memset(&wr, 0, sizeof(wr));
	wr.wr_id = wr_id;
	wr.sg_list = sg_list;
	wr.opcode = opcode;
	wr.send_flags = send_flags;
	return 0;
}

int c_sge(uint64_t addr, uint32_t length, uint32_t lkey)
{
	struct ibv_sge *sge = &sg_list[wr.num_sge++];

	sge->addr = addr;
	sge->length = length;
	sge->lkey = lkey;
	return 0;
}

int c_rdma(uint64_t remote_addr, uint32_t rkey)
{
	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = rkey;
	return 0;
}

int c_atomic(uint64_t remote_addr, uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
	wr.wr.atomic.remote_addr = remote_addr;
	wr.wr.atomic.rkey = rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	return 0;
}

int c_datagram(struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey)
{
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = remote_qpn;
	wr.wr.ud.remote_qkey = remote_qkey;
	return 0;
}

int c_immediate(uint32_t data)
{
	wr.imm_data = htonl(data);
	return 0;
}

int c_invalidate(uint32_t rkey)
{
	wr.invalidate_rkey = rkey;
	return 0;
}

int c_bind(struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr, uint64_t addr, uint64_t length,
	   int access)
{
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = rkey;
	wr.bind_mw.bind_info.mr = mr;
	wr.bind_mw.bind_info.addr = addr;
	wr.bind_mw.bind_info.length = length;
	wr.bind_mw.bind_info.mw_access_flags = access;
	return 0;
}

int c_post_send(struct ibv_qp *qp)
{
	struct ibv_send_wr *bad_wr;

	return ibv_post_send(qp, &wr, &bad_wr);
}

static struct ibv_recv_wr receive(uint64_t wr_id)
{
	struct ibv_recv_wr recv = {
		.wr_id = wr_id, .sg_list = sg_list, .num_sge = wr.num_sge
	};
	return recv;
}

/* With the entries that c_sge added. */
int c_post_recv(struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_recv_wr recv = receive(wr_id), *bad_wr;

	return ibv_post_recv(qp, &recv, &bad_wr);
}

int c_post_srq_recv(struct ibv_srq *srq, uint64_t wr_id)
{
	struct ibv_recv_wr recv = receive(wr_id), *bad_wr;

	return ibv_post_srq_recv(srq, &recv, &bad_wr);
}

/* Polls one completion into numbers. */
int c_poll_cq(struct ibv_cq *cq, int64_t *completion)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(cq, 1, &wc);

	if (count == 1) {
		completion[0] = wc.wr_id;
		completion[1] = wc.status;
		completion[2] = wc.opcode;
		completion[3] = wc.vendor_err;
		completion[4] = wc.byte_len;
		completion[5] = wc.imm_data;
		completion[6] = wc.qp_num;
		completion[7] = wc.src_qp;
		completion[8] = wc.wc_flags;
		completion[9] = wc.pkey_index;
		completion[10] = wc.slid;
		completion[11] = wc.sl;
		completion[12] = wc.dlid_path_bits;
	}
	return count;
}

static struct ibv_wc next_completion;

/* What the operation below gives out. */
int c_complete(const int64_t *completion)
{
	next_completion.wr_id = completion[0];
	next_completion.status = completion[1];
	next_completion.opcode = completion[2];
	next_completion.vendor_err = completion[3];
	next_completion.byte_len = completion[4];
	next_completion.imm_data = completion[5];
	next_completion.qp_num = completion[6];
	next_completion.src_qp = completion[7];
	next_completion.wc_flags = completion[8];
	next_completion.pkey_index = completion[9];
	next_completion.slid = completion[10];
	next_completion.sl = completion[11];
	next_completion.dlid_path_bits = completion[12];
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	for (int i = 0; i < num_entries; i++)
		wc[i] = next_completion;
	return num_entries;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return 0;
}

/* Makes a device whose data path is in C. */
int c_set_operations(struct ibv_context *context)
{
	context->ops.poll_cq = poll_cq;
	context->ops.post_send = post_send;
	return 0;
}

int c_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	return ibv_req_notify_cq(cq, solicited_only);
}

/* A window of type 1 from beginning to end. */
int c_memory_window(struct ibv_pd *pd, struct ibv_qp *qp, struct ibv_mr *mr, uint64_t addr,
		    uint64_t length, int access)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.wr_id = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = mr, .addr = addr, .length = length, .mw_access_flags = access
		}
	};
	int error = ibv_bind_mw(qp, mw, &bind);

	return error ? error : ibv_dealloc_mw(mw);
}

int c_inc_rkey(uint32_t rkey)
{
	return ibv_inc_rkey(rkey);
}

/* Returns the capabilities that only the extended form has. */
int c_query_port(struct ibv_context *context, int port_num)
{
	struct ibv_port_attr attr;

	return ibv_query_port(context, port_num, &attr) ? -1 : attr.port_cap_flags2;
}

int c_query_device_ex(struct ibv_context *context)
{
	struct ibv_device_attr_ex attr;

	return ibv_query_device_ex(context, NULL, &attr) ? -1 : attr.orig_attr.max_qp;
}
