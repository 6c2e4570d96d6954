package dev.sluice.spark.doctor;

import java.util.List;

/** One executor's part of the mesh. One thread, which closes it. */
public interface MeshNode extends AutoCloseable {
  Member self();

  /** READs from the others, one after the other. */
  List<MeshRead> readFrom(List<Member> members);

  @Override
  void close();
}
