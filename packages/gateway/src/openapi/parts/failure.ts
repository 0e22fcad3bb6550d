import { type Examples, type Header, type Reference, type ResponseObject, schemaRef } from '../document.ts';
import { COMMON_HEADERS } from './headers.ts';

interface FailureFacts {
  readonly description: string;
  readonly examples: Examples;
  /** Headers beyond those of every answer. */
  readonly headers?: Readonly<Record<string, Header | Reference>>;
}

/** Describes a failing answer: `{ error, details? }`. */
export function describeFailure({ description, examples, headers }: FailureFacts): ResponseObject {
  return {
    description,
    headers: { ...COMMON_HEADERS, ...headers },
    content: { 'application/json': { schema: schemaRef('Error'), examples } },
  };
}
