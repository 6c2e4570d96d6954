package dev.sluice.benchmarks.storm;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Workloads on the command line, by the names that they have in figures. */
final class WorkloadConverter implements ITypeConverter<Workload> {
  @Override
  public Workload convert(String label) {
    try {
      return Workload.of(label);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(e.getMessage());
    }
  }
}
