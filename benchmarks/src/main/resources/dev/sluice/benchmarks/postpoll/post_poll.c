/*
 * A device whose operations do next to nothing, and loops over the inline functions of verbs.h on
 * it, so that what remains is what calling them costs. Loops return nanoseconds, -1 on failure.
 */
#include <infiniband/verbs.h>
#include <time.h>

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return 0;
}

/* A queue's cqe says how many completions each poll finds. */
static int poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int count = num_entries < cq->cqe ? num_entries : cq->cqe;

	for (int i = 0; i < count; i++) {
		wc[i].wr_id = i;
		wc[i].status = IBV_WC_SUCCESS;
		wc[i].byte_len = 4096;
	}
	return count;
}

static struct ibv_context fake_context = {.ops = {.post_send = post_send, .poll_cq = poll_cq}};
static struct ibv_pd fake_pd = {.context = &fake_context};
static struct ibv_qp fake_qp = {.context = &fake_context, .pd = &fake_pd};
static struct ibv_cq empty_cq = {.context = &fake_context};
static struct ibv_cq full_cq = {.context = &fake_context, .cqe = 1 << 30};

struct ibv_context *get_context(void)
{
	return &fake_context;
}

struct ibv_pd *get_pd(void)
{
	return &fake_pd;
}

struct ibv_qp *get_qp(void)
{
	return &fake_qp;
}

struct ibv_cq *get_empty_cq(void)
{
	return &empty_cq;
}

struct ibv_cq *get_full_cq(void)
{
	return &full_cq;
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Fills in a READ and posts it, again and again. */
int64_t post(struct ibv_qp *qp, int count)
{
	int64_t start = now();

	for (int i = 0; i < count; i++) {
		struct ibv_sge sge = {.addr = 0x1000, .length = 4096, .lkey = 1};
		struct ibv_send_wr *bad_wr, wr = {
			.wr_id = i,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = {.remote_addr = 0x2000, .rkey = 2},
		};

		if (ibv_post_send(qp, &wr, &bad_wr))
			return -1;
	}
	return now() - start;
}

/* Polls up to 16 completions at a time, and looks at each. */
int64_t poll(struct ibv_cq *cq, int num_entries, int count)
{
	struct ibv_wc wc[16];
	uint64_t sum = 0;
	int64_t start = now();

	for (int i = 0; i < count; i++) {
		int polled = ibv_poll_cq(cq, num_entries, wc);

		for (int j = 0; j < polled; j++) {
			if (wc[j].status != IBV_WC_SUCCESS)
				return -1;
			sum += wc[j].wr_id + wc[j].byte_len;
		}
	}
	return sum == 1 ? -1 : now() - start;
}
