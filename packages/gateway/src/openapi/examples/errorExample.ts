import type { Parsed } from '@prism-gateway/protocol';
import { parseBody } from '../../http/body.ts';
import { answerError, toApiError } from '../../http/errorAnswer.ts';
import { type ApiError, validationFailed } from '../../http/errors.ts';
import type { Example } from '../document.ts';

/** Shows an error as the service answers it. */
export function errorExample(summary: string, error: ApiError): Example {
  // `answerError` writes JSON text.
  return { summary, value: JSON.parse(String(answerError(error).body)) };
}

/** Shows what an input from outside is refused with. */
export function faultsExample(summary: string, parsed: Parsed<unknown>): Example {
  return errorExample(summary, validationFailed('faults' in parsed ? parsed.faults : []));
}

/** Shows what a body is refused with. */
export function bodyFaultsExample(summary: string, text: string, parse: (json: unknown) => Parsed<unknown>): Example {
  return faultsExample(summary, parseBody(new TextEncoder().encode(text), parse));
}

/** Shows what an act throws. */
export function thrownExample(summary: string, act: () => unknown): Example {
  try {
    act();
  } catch (thrown) {
    return errorExample(summary, toApiError(thrown));
  }
  throw new Error(`The example "${summary}" must fail, and did not.`);
}
