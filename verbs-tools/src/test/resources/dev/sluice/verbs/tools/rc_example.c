/*
 * Partner of bin/verbs rc-example: the wire format and the order of steps of the manuals' RC
 * example. Arguments: TCP port, index of the GID, and for a client the server's IPv4 address.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SIZE 21
#define DEADLINE_S 60
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define CHECK(ok)                                                              \
	do {                                                                   \
		if (!(ok)) {                                                   \
			fprintf(stderr, "line %d: %s\n", __LINE__, #ok);       \
			exit(1);                                               \
		}                                                              \
	} while (0)

struct address {
	uint64_t addr;
	uint32_t rkey;
	uint32_t qp_num;
	uint16_t lid;
	uint8_t gid[16];
} __attribute__((packed));

static char buffer[SIZE];
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_qp *qp;
static struct address remote;
static int tcp;

static int meet(int port, const char *server)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0), accepted;

	CHECK(fd >= 0);
	if (server) {
		CHECK(inet_pton(AF_INET, server, &address.sin_addr) == 1);
		CHECK(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	CHECK(!bind(fd, (struct sockaddr *)&address, sizeof(address)));
	CHECK(!listen(fd, 1));
	accepted = accept(fd, NULL, NULL);
	CHECK(accepted >= 0);
	close(fd);
	return accepted;
}

static void exchange(const void *mine, void *theirs, size_t length)
{
	CHECK(write(tcp, mine, length) == (ssize_t)length);
	for (size_t done = 0; done < length;) {
		ssize_t count = read(tcp, (char *)theirs + done, length - done);

		CHECK(count > 0);
		done += count;
	}
}

static void sync_both(void)
{
	char theirs;

	exchange("Q", &theirs, 1);
}

static void to_rts(int gid_index)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_256, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 0x12, .dest_qp_num = ntohl(remote.qp_num)};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .timeout = 0x12,
				  .retry_cnt = 6, .max_rd_atomic = 1};

	rtr.ah_attr.dlid = ntohs(remote.lid);
	rtr.ah_attr.port_num = 1;
	rtr.ah_attr.is_global = 1;
	rtr.ah_attr.grh.sgid_index = gid_index;
	rtr.ah_attr.grh.hop_limit = 1;
	memcpy(&rtr.ah_attr.grh.dgid, remote.gid, sizeof(remote.gid));
	CHECK(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						IBV_QP_ACCESS_FLAGS));
	CHECK(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC |
					       IBV_QP_MIN_RNR_TIMER));
	CHECK(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					       IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					       IBV_QP_MAX_QP_RD_ATOMIC));
}

static void post_receive(void)
{
	struct ibv_sge sge = {(uintptr_t)buffer, SIZE, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(!ibv_post_recv(qp, &wr, &bad));
}

static void await_completion(void)
{
	time_t deadline = time(NULL) + DEADLINE_S;
	struct ibv_wc wc;
	int count;

	while (!(count = ibv_poll_cq(cq, 1, &wc)))
		CHECK(time(NULL) < deadline);
	CHECK(count == 1);
	CHECK(wc.status == IBV_WC_SUCCESS);
}

static void transfer(enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = {(uintptr_t)buffer, SIZE, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED}, *bad;

	wr.wr.rdma.remote_addr = be64toh(remote.addr);
	wr.wr.rdma.rkey = ntohl(remote.rkey);
	CHECK(!ibv_post_send(qp, &wr, &bad));
	await_completion();
}

int main(int count, char **arguments)
{
	const char *server = count > 3 ? arguments[3] : NULL;
	int gid_index = atoi(arguments[2]);
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_port_attr port;
	union ibv_gid gid;
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1}};
	struct address local;

	alarm(DEADLINE_S);
	CHECK(list && list[0]);
	context = ibv_open_device(list[0]);
	CHECK(context && !ibv_query_port(context, 1, &port));
	CHECK(!ibv_query_gid(context, 1, gid_index, &gid));
	pd = ibv_alloc_pd(context);
	cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, buffer, SIZE, ACCESS);
	CHECK(cq && mr);
	init.send_cq = init.recv_cq = cq;
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	if (!server)
		strcpy(buffer, "SEND operation      ");

	tcp = meet(atoi(arguments[1]), server);
	local.addr = htobe64((uintptr_t)buffer);
	local.rkey = htonl(mr->rkey);
	local.qp_num = htonl(qp->qp_num);
	local.lid = htons(port.lid);
	memcpy(local.gid, &gid, sizeof(local.gid));
	exchange(&local, &remote, sizeof(local));
	to_rts(gid_index);
	if (server)
		post_receive();
	sync_both();
	if (server) {
		await_completion();
		printf("Message is: '%s'\n", buffer);
		sync_both();
		transfer(IBV_WR_RDMA_READ);
		printf("Contents of server's buffer: '%s'\n", buffer);
		strcpy(buffer, "RDMA write operation");
		transfer(IBV_WR_RDMA_WRITE);
		sync_both();
	} else {
		transfer(IBV_WR_SEND);
		strcpy(buffer, "RDMA read operation ");
		sync_both();
		sync_both();
		printf("Contents of server buffer: '%s'\n", buffer);
	}
	CHECK(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr) && !ibv_destroy_cq(cq));
	CHECK(!ibv_dealloc_pd(pd) && !ibv_close_device(context));
	ibv_free_device_list(list);
	return 0;
}
