{{- define "icp.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "icp.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "icp.labels" -}}
{{ include "icp.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "icp.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* The server's container without its name and arguments: what the migration runs in, too. */}}
{{- define "icp.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  - name: ICP_PUBLIC_URL
    value: {{ .Values.publicUrl | quote }}
  - name: ICP_LOG_FORMAT
    value: {{ .Values.env.ICP_LOG_FORMAT | default "json" | quote }}
  {{- range $name, $value := omit .Values.env "ICP_LOG_FORMAT" }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  {{- range list "ICP_DATABASE_URL" "ICP_REDIS_URL" "ICP_SECRET_KEY" }}
  - name: {{ . }}
    valueFrom:
      secretKeyRef:
        name: {{ $.Values.existingSecret }}
        key: {{ . }}
  {{- end }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
  - name: keys
    mountPath: /data/ledger_key.pem
    subPath: ledger_key.pem
    readOnly: true
  {{- range .Values.retiredKeys }}
  - name: keys
    mountPath: /data/retired/{{ . }}
    subPath: {{ . }}
    readOnly: true
  {{- end }}
{{- end }}

{{- define "icp.volumes" -}}
volumes:
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: {}
  - name: keys
    secret:
      secretName: {{ .Values.existingSecret }}
      defaultMode: 0440
      items:
        - key: ledger_key.pem
          path: ledger_key.pem
        {{- range .Values.retiredKeys }}
        - key: {{ . }}
          path: {{ . }}
        {{- end }}
{{- end }}
