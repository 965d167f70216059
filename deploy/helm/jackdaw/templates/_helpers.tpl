{{- define "jackdaw.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "jackdaw.selector" -}}
app.kubernetes.io/name: jackdaw
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "jackdaw.labels" -}}
{{ include "jackdaw.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "jackdaw.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "jackdaw.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "jackdaw.name" .) }}
{{- end -}}

{{/* Variables of the server and of the migration job. */}}
{{- define "jackdaw.env" -}}
{{- if ne .Values.database.type "sqlite" }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "database.existingSecret is required with postgres and mysql" .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
{{- end }}
{{- if .Values.redis.existingSecret }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef:
      name: {{ .Values.redis.existingSecret }}
      key: {{ .Values.redis.key }}
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "jackdaw.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "jackdaw.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}
