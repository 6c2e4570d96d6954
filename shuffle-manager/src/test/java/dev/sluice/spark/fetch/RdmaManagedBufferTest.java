// SPDX-License-Identifier: Apache-2.0
package dev.sluice.spark.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.rdma.transfer.ReadBuffer;
import dev.sluice.spark.transport.FakeTransport;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RdmaManagedBufferTest {
  private final FakeTransport transport = new FakeTransport(Runnable::run);
  private final EvictableBuffers parked = new EvictableBuffers(transport, Runnable::run);
  private final SharedBytes shared = new SharedBytes(parked, acquire(), 8);

  @Test
  void theSliceReturnsWithTheLastReference() {
    RdmaManagedBuffer first = shared.block(0, 4);
    RdmaManagedBuffer second = shared.block(4, 4);
    shared.complete();

    first.retain();
    first.release();
    second.release();
    assertThat(transport.buffersOut()).isEqualTo(1);
    first.release();

    assertThat(transport.buffersOut()).isZero();
  }

  @Test
  void releasingTooOftenIsAnErrorAndReturnsNothingTwice() {
    RdmaManagedBuffer data = shared.block(0, 4);
    data.release();

    assertThatThrownBy(data::release).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(data::retain).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(data::createInputStream).isInstanceOf(IllegalStateException.class);
    assertThat(transport.buffersOut()).isEqualTo(1);
  }

  @Test
  void theBytesAreTheSameWhenTheyHaveLeftThePool() throws IOException {
    RdmaManagedBuffer data = shared.block(1, 6);
    shared.complete();
    shared.moveOut();
    assertThat(transport.buffersOut()).isZero();
    try (InputStream in = data.createInputStream()) {
      assertThat(in.readAllBytes()).containsExactly(1, 2, 3, 4, 5, 6);
    }
    shared.moveOut();
    data.release();
    assertThatThrownBy(data::createInputStream).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void bytesThatAreReadStayWhereTheyAre() {
    RdmaManagedBuffer data = shared.block(1, 6);
    shared.complete();
    assertThat(data.nioByteBuffer().get(0)).isEqualTo((byte) 1);
    shared.moveOut();
    assertThat(transport.buffersOut()).isEqualTo(1);
    data.release();
    shared.moveOut();
    assertThat(transport.buffersOut()).isZero();
  }

  /** A copy of the others would not free the buffer. */
  @Test
  void neighboursOfABlockThatIsReadAreNotCopied() {
    RdmaManagedBuffer first = shared.block(0, 4);
    RdmaManagedBuffer second = shared.block(4, 4);
    shared.complete();
    first.nioByteBuffer();
    shared.moveOut();
    first.release();
    assertThat(transport.buffersOut()).isEqualTo(1);

    transport.poolBytes(0);
    acquireInVain(); // while the reader has reached none of the others
    assertThat(transport.buffersOut()).isZero();
    assertThat(second.nioByteBuffer().get(3)).isEqualTo((byte) 7);
    second.release();
  }

  @Test
  void streamReadsTheSlice() throws IOException {
    RdmaManagedBuffer data = shared.block(1, 6);

    try (InputStream in = data.createInputStream()) {
      assertThat(in.available()).isEqualTo(6);
      assertThat(in.read()).isEqualTo(1);
      assertThat(in.skip(2)).isEqualTo(2);
      assertThat(in.readNBytes(2)).containsExactly(4, 5);
      assertThat(in.read(new byte[10])).isEqualTo(1);
      assertThat(in.read()).isEqualTo(-1);
      assertThat(in.read(new byte[10])).isEqualTo(-1);
      assertThat(in.skip(1)).isZero();
    }
  }

  @Test
  void streamFailsOnceTheBufferIsReleased() throws IOException {
    RdmaManagedBuffer data = shared.block(0, 4);
    try (InputStream in = data.createInputStream()) {
      data.release();

      assertThatThrownBy(in::read).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void bytesForNettyOutliveTheBuffer() {
    RdmaManagedBuffer data = shared.block(2, 2);

    ByteBuf copy = (ByteBuf) data.convertToNetty();
    data.release();
    shared.complete();

    assertThat(copy.readByte()).isEqualTo((byte) 2);
    assertThat(copy.readByte()).isEqualTo((byte) 3);
    copy.release();
  }

  private void acquireInVain() {
    transport.acquire(9, 0, buffer -> assertThat(buffer).isNull());
  }

  private ReadBuffer acquire() {
    List<ReadBuffer> buffers = new ArrayList<>();
    transport.acquire(8, 0, buffers::add);
    MemorySegment bytes = MemorySegment.ofArray(new byte[] {0, 1, 2, 3, 4, 5, 6, 7});
    buffers.getFirst().segment().copyFrom(bytes);
    return buffers.getFirst();
  }
}
