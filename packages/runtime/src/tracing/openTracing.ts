import { type Environment, SettingsError } from '../settings/index.ts';
import { createOtlpExporter } from './createOtlpExporter.ts';
import { createTracer, type Tracer } from './createTracer.ts';

/** A tracer with where its spans go. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Delivers what there is; never rejects. */
  flush(): Promise<void>;
  /** Delivers the rest, and stops. */
  close(): Promise<void>;
}

interface TracingContext {
  readonly environment: Environment;
  /** Unless `OTEL_SERVICE_NAME` has another. */
  readonly serviceName: string;
  /** Told when the collector stops taking spans. */
  readonly onFault: (reason: string) => void;
  /** Longest wait for the collector, in milliseconds; default 10 s. */
  readonly timeoutMs?: number;
}

const INTERVAL_MS = 5000;
const TIMEOUT_MS = 10_000;

const isHttpUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Reads `key=value,key=value`, percent-encoded. @returns undefined for what is none */
function readHeaders(text: string): Record<string, string> | undefined {
  try {
    const pairs = text.split(',').flatMap((part) => part.trim() || []);
    return Object.fromEntries(
      pairs.map((pair) => {
        const [, name, value] = /^([\w-]+)\s*=\s*(.*)$/.exec(pair) ?? [];
        if (name === undefined || value === undefined) throw new Error('no pair');
        return [name.toLowerCase(), decodeURIComponent(value)];
      }),
    );
  } catch {
    return undefined;
  }
}

/**
 * Opens the tracing that the environment asks for, by OpenTelemetry's own names: `OTEL_EXPORTER_OTLP_ENDPOINT` (or
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, taken as it is), `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and
 * `OTEL_TRACES_SAMPLER_ARG`.
 *
 * @returns undefined where no collector is named: nothing is traced, and nothing is spent on it
 * @throws SettingsError (`SETTINGS_INVALID`) that repeats no value
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function openTracing({ environment, serviceName, onFault, timeoutMs }: TracingContext): Tracing | undefined {
  const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base && `${base.replace(/\/+$/, '')}/v1/traces`);
  if (!url) return undefined;
  const headers = readHeaders(environment.OTEL_EXPORTER_OTLP_HEADERS ?? '');
  const sampleRatio = Number(environment.OTEL_TRACES_SAMPLER_ARG || 1);
  const faults: string[] = [];
  if (!isHttpUrl(url)) faults.push('OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL');
  if (headers === undefined) faults.push('OTEL_EXPORTER_OTLP_HEADERS: expected name=value, with commas between');
  if (!(sampleRatio >= 0 && sampleRatio <= 1)) faults.push('OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1');
  if (faults.length > 0 || headers === undefined) throw new SettingsError(faults);
  const exporter = createOtlpExporter({
    url,
    headers,
    serviceName: environment.OTEL_SERVICE_NAME || serviceName,
    intervalMs: INTERVAL_MS,
    timeoutMs: timeoutMs ?? TIMEOUT_MS,
    onFault,
  });
  const tracer = createTracer({
    record: exporter.record,
    sampleRatio,
    now: () => performance.timeOrigin + performance.now(),
    random: Math.random,
  });
  return { tracer, flush: exporter.flush, close: exporter.close };
}
