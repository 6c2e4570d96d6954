"""The other side of a test's traffic, by rdma-core's own binding.

pyverbs_peer.py DEVICE GID_INDEX rc|uc|ud BYTES: makes a queue pair and a region, writes
"QP_NUMBER ADDRESS RKEY", then answers one line to each command that it reads.
"""

import sys
import time

import pyverbs.enums as e
from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

PORT = 1
PSN = 0x123456
QKEY = 0x11111111
GRH_BYTES = 40
DEADLINE_S = 20
ACCESS = (
    e.IBV_ACCESS_LOCAL_WRITE
    | e.IBV_ACCESS_REMOTE_READ
    | e.IBV_ACCESS_REMOTE_WRITE
    | e.IBV_ACCESS_REMOTE_ATOMIC
)
OPCODES = {
    "send": e.IBV_WR_SEND,
    "send_with_imm": e.IBV_WR_SEND_WITH_IMM,
    "read": e.IBV_WR_RDMA_READ,
    "write": e.IBV_WR_RDMA_WRITE,
    "fetch_add": e.IBV_WR_ATOMIC_FETCH_AND_ADD,
}
QP_TYPES = {"rc": e.IBV_QPT_RC, "uc": e.IBV_QPT_UC, "ud": e.IBV_QPT_UD}


class Peer:
    def __init__(self, device, gid_index, kind, length):
        self.gid_index = int(gid_index)
        self.kind = kind
        self.context = Context(name=device)
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 64)
        self.mr = MR(self.pd, int(length), ACCESS)
        cap = QPCap(max_send_wr=16, max_recv_wr=16, max_send_sge=1, max_recv_sge=1)
        init = QPInitAttr(qp_type=QP_TYPES[kind], scq=self.cq, rcq=self.cq, cap=cap)
        self.qp = QP(self.pd, init)

    def describe(self):
        return f"{self.qp.qp_num} {self.mr.buf} {self.mr.rkey}"

    def address(self):
        gid = self.context.query_gid(PORT, self.gid_index)
        route = GlobalRoute(dgid=gid, sgid_index=self.gid_index, hop_limit=64)
        return AHAttr(port_num=PORT, is_global=1, gr=route)

    def connect(self, qp_number):
        self.remote = int(qp_number)
        attr = QPAttr(port_num=PORT)
        attr.sq_psn = PSN
        if self.kind == "ud":
            attr.qkey = QKEY
            self.qp.to_rts(attr)
            self.ah = AH(self.pd, attr=self.address())
            return "connected"
        attr.qp_access_flags = ACCESS if self.kind == "rc" else e.IBV_ACCESS_REMOTE_WRITE
        attr.path_mtu = e.IBV_MTU_1024
        attr.rq_psn = PSN
        attr.dest_qp_num = self.remote
        attr.ah_attr = self.address()
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
        attr.min_rnr_timer = 1
        attr.timeout = 14
        attr.retry_cnt = attr.rnr_retry = 7
        self.qp.to_rts(attr)
        return "connected"

    def receive(self, length):
        entry = SGE(self.mr.buf, int(length), self.mr.lkey)
        self.qp.post_recv(RecvWR(sg=[entry], num_sge=1))
        return "posted"

    def request(self, opcode, length, address="0", rkey="0", number="0"):
        entry = SGE(self.mr.buf, int(length), self.mr.lkey)
        wr = SendWR(
            opcode=OPCODES[opcode],
            num_sge=1,
            sg=[entry],
            send_flags=e.IBV_SEND_SIGNALED,
            imm_data=_network_order(int(number)),
        )
        if opcode == "fetch_add":
            wr.set_wr_atomic(int(rkey), int(address), int(number), 0)
        elif opcode in ("read", "write"):
            wr.set_wr_rdma(int(rkey), int(address))
        if self.kind == "ud":
            wr.set_wr_ud(self.ah, self.remote, QKEY)
        self.qp.post_send(wr)
        return self.poll()

    def poll(self):
        """Waits for a completion: status, bytes and immediate data."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            count, completions = self.cq.poll(1)
            if count:
                wc = completions[0]
                return f"{wc.status} {wc.byte_len} {_network_order(wc.imm_data)}"
        return "timeout"

    def write(self, text):
        self.mr.write(bytes.fromhex(text), len(text) // 2)
        return "written"

    def memory(self, length):
        return self.mr.read(int(length), 0).hex()


def _network_order(number):
    return int.from_bytes(number.to_bytes(4, sys.byteorder), "big")


peer = Peer(*sys.argv[1:])
print(peer.describe(), flush=True)
for line in sys.stdin:
    command, *arguments = line.split()
    print(getattr(peer, command)(*arguments), flush=True)
