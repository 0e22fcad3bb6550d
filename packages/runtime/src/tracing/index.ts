export {
  createTracer,
  type EndedSpan,
  type Span,
  type SpanAttributes,
  type SpanStart,
  type Tracer,
  traceFetch,
} from './createTracer.ts';
export { openTracing, type Tracing } from './openTracing.ts';
