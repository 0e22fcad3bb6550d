export {
  createTracer,
  type EndedSpan,
  type Span,
  type SpanAttributes,
  type SpanStart,
  type Tracer,
} from './createTracer.ts';
export { openTracing, type Tracing } from './openTracing.ts';
export { traceFetch } from './traceFetch.ts';
