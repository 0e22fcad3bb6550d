/** A JSON Schema of draft 2020-12, the dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Reference {
  readonly $ref: string;
}

export interface Example {
  readonly summary: string;
  readonly description?: string;
  readonly value: unknown;
}

/** Examples by name: a request's and its answer's share one, so that a reader sees both of a pair. */
export type Examples = Readonly<Record<string, Example>>;

export interface Header {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly required?: boolean;
  readonly example?: unknown;
}

export interface MediaType {
  readonly schema: JsonSchema;
  readonly examples?: Examples;
}

/** Bodies by media type. */
export type Content = Readonly<Record<string, MediaType>>;

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Content;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly description: string;
  readonly required: boolean;
  readonly content: Content;
}

/** One way to authenticate: all of the named schemes together. Nothing named: anyone may call. */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly SecurityRequirement[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
  /** Who may call; which limit counts. */
  readonly [extension: `x-${string}`]: unknown;
}

export type PathItem = Readonly<Partial<Record<'get' | 'put' | 'post' | 'patch' | 'delete' | 'head', Operation>>>;

/** Path items by path template. */
export type Paths = Readonly<Record<string, PathItem>>;

/**
 * The parts of an OpenAPI 3.1 document that this service uses.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly security: readonly SecurityRequirement[];
  readonly paths: Paths;
  /** The messages to receivers, by event. */
  readonly webhooks?: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  /** Limits in force, for programs. */
  readonly 'x-limits': Readonly<Record<string, unknown>>;
}

/** Points to a schema of the components. */
export function schemaRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}
