import { expect } from 'vitest';
import type { Example, Examples, Header, Operation, Reference, ResponseObject } from '../../src/openapi/document.ts';
import type { OpenApiRig } from './openApiRig.ts';

/** Checks of real answers against the document. */
export interface AnswerChecks {
  /** Checks status, headers and body. @returns the body: of JSON the value, undefined if there is none */
  expectDocumented(operationId: string, response: Response): Promise<unknown>;
  /** The value of an answer's example. */
  exampleOf(operationId: string, status: number, name: string): unknown;
  /** The examples of an operation's body. */
  bodyExamplesOf(operationId: string): Examples;
}

/** Follows a reference into the components. */
function resolve<T extends object>(node: T | Reference, from: Readonly<Record<string, T>>): T {
  if (!('$ref' in node)) return node;
  const found = from[node.$ref.slice(node.$ref.lastIndexOf('/') + 1)];
  if (found === undefined) throw new Error(`${node.$ref} points nowhere.`);
  return found;
}

/** Makes the checks. They fail for whatever the document does not say. */
export function createAnswerChecks({ document, compile }: OpenApiRig): AnswerChecks {
  const { components, paths } = document;
  const operations = Object.values(paths).flatMap((item) => Object.values(item));

  function operationOf(operationId: string): Operation {
    const operation = operations.find((known) => known.operationId === operationId);
    if (operation === undefined) throw new Error(`The document has no operation ${operationId}.`);
    return operation;
  }

  function responseOf(operationId: string, status: number): ResponseObject {
    const response = operationOf(operationId).responses[status];
    if (response === undefined)
      throw new Error(`${operationId} may answer ${status}, and the document does not say so.`);
    return resolve(response, components.responses);
  }

  function expectHeaders(response: Response, documented: ResponseObject): void {
    for (const [name, node] of Object.entries(documented.headers ?? {})) {
      const header: Header = resolve(node, components.headers);
      const value = response.headers.get(name);
      if (header.required) expect(value, `${name} of ${response.status}`).not.toBeNull();
      if (value !== null) expect(compile(header.schema)(value), `${name}: ${value}`).toBe(true);
    }
  }

  return {
    async expectDocumented(operationId, response) {
      const documented = responseOf(operationId, response.status);
      expectHeaders(response, documented);
      const text = await response.text();
      const [type = ''] = (response.headers.get('content-type') ?? '').split(';');
      const media = documented.content?.[type];
      if (media === undefined) {
        expect(text, `${operationId} ${response.status} ${type}`).toBe('');
        return undefined;
      }
      const body = type === 'application/json' ? JSON.parse(text) : text;
      const validate = compile(media.schema);
      expect(validate(body) ? null : validate.errors, `${operationId} ${response.status}`).toBeNull();
      return body;
    },
    exampleOf(operationId, status, name) {
      const example: Example | undefined = responseOf(operationId, status).content?.['application/json']?.examples?.[
        name
      ];
      if (example === undefined) throw new Error(`${operationId} has no example ${name} of ${status}.`);
      return example.value;
    },
    bodyExamplesOf: (operationId) => operationOf(operationId).requestBody?.content['application/json']?.examples ?? {},
  };
}
