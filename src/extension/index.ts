/** Extensions: discovery, dependency order and start; run events and own events for listeners, the log and telemetry. */
export { OwnEventRegistry } from './events/own-event.registry.js';
export { loadRunEventModule } from './events/run-event-module.loader.js';
export { ExtensionLoader } from './extension.loader.js';
export { ExtensionModule } from './extension.module.js';
export { reportProviders, RunReportService } from './run-report.service.js';
export type { TelemetryOption } from './run-report.service.js';
export { Telemetry } from './telemetry.js';
export type { Measured, ModelCallMeasured, ToolCallMeasured, UsageMeasured } from './telemetry.js';
