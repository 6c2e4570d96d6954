// SPDX-License-Identifier: Apache-2.0
package dev.sluice.chaos.inject;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.blocks.wire.ControlMessages;
import dev.sluice.blocks.wire.ControlMessages.Addressed;
import dev.sluice.blocks.wire.ControlMessages.Done;
import dev.sluice.blocks.wire.ControlMessages.Resolve;
import dev.sluice.blocks.wire.ControlMessages.Stage;
import dev.sluice.blocks.wire.ControlMessages.Touch;
import dev.sluice.blocks.wire.MessageCodec;
import dev.sluice.blocks.wire.ProcessName;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class FrameTest {
  private static final byte RPC_REQUEST = 3;
  private static final byte ONE_WAY_MESSAGE = 9;
  private static final ProcessName SERVER = new ProcessName("application", "1");

  @Test
  void aQuestionIsRecognizedBehindItsAddress() throws Exception {
    Frame resolve = request(new Addressed(SERVER, "2", new Resolve(1, new long[] {7})));
    assertThat(resolve.is(Resolve.class)).isTrue();
    assertThat(resolve.is(Stage.class)).isFalse();
    Stage stage = new Stage(1, 1000, List.of(), 0, 1);
    assertThat(request(new Addressed(SERVER, "2", stage)).is(Stage.class)).isTrue();
  }

  @Test
  void aNoticeIsRecognized() throws Exception {
    assertThat(notice(new Done(SERVER, "2", 5)).is(Done.class)).isTrue();
    Frame touch = notice(new Addressed(SERVER, "2", new Touch(1)));
    assertThat(touch.is(Touch.class)).isTrue();
    assertThat(touch.is(Done.class)).isFalse();
  }

  @Test
  void othersAreNone() throws Exception {
    assertThat(read(RPC_REQUEST, new byte[12], new byte[] {1, 2, 3}).is(Resolve.class)).isFalse();
    assertThat(read((byte) 1, new byte[0], new byte[] {1, 2, 3}).is(Resolve.class)).isFalse();
  }

  private static Frame request(Object message) throws Exception {
    return read(RPC_REQUEST, new byte[12], encoded(message));
  }

  private static Frame notice(Object message) throws Exception {
    return read(ONE_WAY_MESSAGE, new byte[4], encoded(message));
  }

  private static byte[] encoded(Object message) throws Exception {
    return new MessageCodec(ControlMessages.TYPES).encode(message);
  }

  /** Reads a frame of length, type, the type's own fields and a body. */
  private static Frame read(byte type, byte[] fields, byte[] body) throws Exception {
    byte[] bytes = new byte[Long.BYTES + 1 + fields.length + body.length];
    ByteBuffer.wrap(bytes).putLong(bytes.length).put(type).put(fields).put(body);
    return Frame.read(new DataInputStream(new ByteArrayInputStream(bytes)));
  }
}
