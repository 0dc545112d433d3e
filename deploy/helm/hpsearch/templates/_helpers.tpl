{{/* Selects the pods of a component: (list . "daemon") */}}
{{- define "hpsearch.selector" -}}
app.kubernetes.io/name: hpsearch
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "hpsearch.labels" -}}
{{ include "hpsearch.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
{{- end }}

{{- define "hpsearch.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Volumes keep their files' modes: keys must be readable by their owner only, and the kubelet would add the group. */}}
{{- define "hpsearch.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.user }}
runAsGroup: {{ .Values.user }}
fsGroup: {{ .Values.user }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "hpsearch.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Where pods run: (list root values). Nodes, and Secrets of registries. */}}
{{- define "hpsearch.placement" -}}
{{- $found := dict }}
{{- with (index . 0).Values.image.pullSecrets }}{{ $_ := set $found "imagePullSecrets" . }}{{ end }}
{{- with (index . 1).nodeSelector }}{{ $_ := set $found "nodeSelector" . }}{{ end }}
{{- with (index . 1).tolerations }}{{ $_ := set $found "tolerations" . }}{{ end }}
{{- with $found }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* Refuses values that the schema can't refuse with a reason. */}}
{{- define "hpsearch.check" -}}
{{- $postgresql := .Values.daemon.store.postgresql }}
{{- $replicas := int .Values.daemon.replicas }}
{{- if and (gt $replicas 1) (not $postgresql.url) }}
{{- fail (printf "daemon.replicas is %d, but a store in a volume has one daemon: set daemon.store.postgresql.url, or daemon.replicas to 1" $replicas) }}
{{- end }}
{{- if and (gt $replicas 1) (not $postgresql.keySecret) }}
{{- fail (printf "daemon.replicas is %d, but each daemon would have keys and tokens of its own: set daemon.store.postgresql.keySecret, or daemon.replicas to 1" $replicas) }}
{{- end }}
{{- if and (not $postgresql.url) (or $postgresql.passwordSecret $postgresql.keySecret) }}
{{- fail "daemon.store.postgresql.passwordSecret and keySecret are for a store in PostgreSQL: set daemon.store.postgresql.url too, or neither" }}
{{- end }}
{{- end }}
