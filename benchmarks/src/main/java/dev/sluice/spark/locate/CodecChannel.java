package dev.sluice.spark.locate;

import dev.sluice.blocks.wire.MessageException;
import java.io.IOException;

/**
 * A driver's directory in this very process: every message goes through the codec both ways, as
 * over Spark's RPC, and its bytes are counted. In this package because the codec is. One thread.
 */
public final class CodecChannel implements DriverChannel {
  private final DirectoryCodec codec = new DirectoryCodec();
  private final LocationDirectory directory;
  private long answerBytes;

  public CodecChannel(LocationDirectory directory) {
    this.directory = directory;
  }

  @Override
  public DirectoryMessage ask(DirectoryMessage message) throws IOException {
    return codec.decode(serve(encode(message)));
  }

  /** What an executor sends. */
  public byte[] encode(DirectoryMessage message) throws MessageException {
    return codec.encode(message);
  }

  /** What the driver does with it, and answers. */
  public byte[] serve(byte[] message) throws IOException {
    byte[] answer = codec.encode(directory.handle(codec.decode(message)));
    answerBytes += answer.length;
    return answer;
  }

  /** Bytes of all answers. */
  public long answerBytes() {
    return answerBytes;
  }
}
