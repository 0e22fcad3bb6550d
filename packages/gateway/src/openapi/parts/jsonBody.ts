import { type Examples, type RequestBody, schemaRef } from '../document.ts';

/** Describes a JSON body that a route requires. @param schema - name in the components */
export function jsonBody(schema: string, description: string, examples: Examples): RequestBody {
  return { description, required: true, content: { 'application/json': { schema: schemaRef(schema), examples } } };
}
