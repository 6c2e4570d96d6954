{{/* Labels of all objects, by which the others select the pods. */}}
{{- define "sluice-node.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "sluice-node.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Request of a probe. Without a host, the kubelet asks the pod's address. On the host's network the daemon may listen on
loopback alone. */}}
{{- define "sluice-node.get" -}}
{{- $host := ternary "host: 127.0.0.1, " "" .root.Values.hostNetwork -}}
httpGet: { {{- $host }}port: {{ .root.Values.httpPort }}, path: {{ .path -}} }
{{- end }}

{{- define "sluice-node.mounts" -}}
{{- range $i, $disk := .Values.disks -}}
- {name: spark-local-dir-{{ add1 $i }}, mountPath: {{ $disk.mountPath -}} }
{{ end -}}
- {name: socket, mountPath: {{ .Values.socketFolder -}} }
{{- end }}
