package dev.sluice.spark.locate;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.broadcast.BroadcastManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.reflect.ClassTag$;

/** {@link Broadcasts} by Spark's broadcast variables; a handle is a serialized one. */
public final class SparkBroadcasts implements Broadcasts {
  private static final Logger LOG = LoggerFactory.getLogger(SparkBroadcasts.class);

  private final BroadcastManager manager;

  public SparkBroadcasts(BroadcastManager manager) {
    this.manager = manager;
  }

  @Override
  public Shipped ship(byte[] bytes) throws IOException {
    Broadcast<byte[]> broadcast =
        manager.newBroadcast(bytes, false, false, ClassTag$.MODULE$.apply(byte[].class));
    ByteArrayOutputStream handle = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(handle)) {
      out.writeObject(broadcast);
    }
    return new Shipped(handle.toByteArray(), () -> destroy(broadcast));
  }

  /** Fails where the application has ended, and with it the broadcast. */
  private static void destroy(Broadcast<byte[]> broadcast) {
    try {
      broadcast.destroy();
    } catch (Exception e) {
      LOG.debug("Broadcast {} is not destroyed", broadcast.id(), e);
    }
  }

  @Override
  public byte[] fetch(byte[] handle) throws IOException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(handle))) {
      return (byte[]) ((Broadcast<?>) in.readObject()).value();
    } catch (ClassNotFoundException e) {
      throw new IOException("not a broadcast variable", e);
    }
  }
}
