export { type Tracer, traceFetch } from './createTracer.ts';
export { openTracing, type Tracing } from './openTracing.ts';
