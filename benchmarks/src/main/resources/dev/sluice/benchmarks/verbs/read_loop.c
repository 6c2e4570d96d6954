/*
 * The loop of ReadLoop.java in C: posts chains of READs and polls each until it is complete, by
 * the inline functions of verbs.h.
 */
#include <infiniband/verbs.h>

#define BYTES 8
#define MOST 64

/* Returns 0, an error number of ibv_post_send(3), or -1 if a completion does not match its READ. */
int read_loop(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_mr *mr, int chain, int reads) {
  struct ibv_send_wr wrs[MOST], *bad;
  struct ibv_sge sges[MOST];
  struct ibv_wc wcs[MOST];
  uint64_t target = (uintptr_t)mr->addr, source = target + BYTES;
  for (int done = 0; done < reads; done += chain) {
    for (int i = 0; i < chain; i++) {
      sges[i] = (struct ibv_sge){.addr = target, .length = BYTES, .lkey = mr->lkey};
      wrs[i] = (struct ibv_send_wr){
          .wr_id = done + i,
          .next = i + 1 < chain ? &wrs[i + 1] : NULL,
          .sg_list = &sges[i],
          .num_sge = 1,
          .opcode = IBV_WR_RDMA_READ,
          .send_flags = IBV_SEND_SIGNALED,
          .wr.rdma = {.remote_addr = source, .rkey = mr->rkey},
      };
    }
    int error = ibv_post_send(qp, wrs, &bad);
    if (error) return error;
    for (int polled = 0; polled < chain;) {
      int count = ibv_poll_cq(cq, chain, wcs);
      if (count < 0) return -1;
      for (int i = 0; i < count; i++)
        if (wcs[i].status != IBV_WC_SUCCESS || wcs[i].wr_id != (uint64_t)(done + polled + i)) return -1;
      polled += count;
    }
  }
  return 0;
}
