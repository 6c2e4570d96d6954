# Image of drivers and executors on UBI 9, with JDK 25 and rdma-core, for Spark 4.0, 4.1 or 4.2. FOLDER has the files of a
# release:
#   docker build -f conf/kubernetes/images/spark-ubi.Dockerfile --build-arg SPARK_VERSION=4.1.3 -t spark-sluice:4.1.3 FOLDER
# It runs Java and Scala. For PySpark add python3.
ARG SPARK_VERSION=4.2.0
FROM apache/spark:${SPARK_VERSION} AS spark
USER root
# JDK 25 needs Hadoop's jars of 3.4.3 (HADOOP-19212). Spark 4.2 has newer ones.
ADD --checksum=sha256:6443332781f26a7199009d9517cd1eb013fbf54ca1c9759a2a9e487542b1d52a https://repo1.maven.org/maven2/org/apache/hadoop/hadoop-client-api/3.4.3/hadoop-client-api-3.4.3.jar /hadoop/
ADD --checksum=sha256:bd20267b0555766ae84697dd888f074ca326d8e2ec3c0008928a6ac2966c67de https://repo1.maven.org/maven2/org/apache/hadoop/hadoop-client-runtime/3.4.3/hadoop-client-runtime-3.4.3.jar /hadoop/
RUN cd /opt/spark/jars \
 && if ls hadoop-client-api-3.4.*; then rm hadoop-client-*-3.4.* && mv /hadoop/* . && chmod 644 hadoop-client-*; fi
COPY sluice-spark-4-0.1.0.jar /opt/spark/jars/
RUN chmod 644 /opt/spark/jars/sluice-*

FROM registry.access.redhat.com/ubi9/ubi-minimal
RUN microdnf install -y libibverbs librdmacm procps-ng shadow-utils \
 && microdnf clean all \
 && groupadd --system --gid 185 spark \
 && useradd --system --uid 185 --gid spark --home-dir /opt/spark spark
COPY --from=eclipse-temurin:25-jre /opt/java/openjdk /opt/java/openjdk
# JDK 25.0.0 to 25.0.2 corrupt compressed data (JDK-8377811).
RUN . /opt/java/openjdk/release && case $JAVA_VERSION in 25 | 25.0.[012]) echo "JDK $JAVA_VERSION is too old: build with --pull"; exit 1 ;; esac
# UBI has no tini.
COPY --from=spark /usr/bin/tini-static /usr/bin/tini
COPY --from=spark /opt/spark /opt/spark
COPY --from=spark /opt/entrypoint.sh /opt/decom.sh /opt/
ENV JAVA_HOME=/opt/java/openjdk SPARK_HOME=/opt/spark
WORKDIR /opt/spark/work-dir
USER 185:185
ENTRYPOINT ["/opt/entrypoint.sh"]
