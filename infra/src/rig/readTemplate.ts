import { Template } from 'aws-cdk-lib/assertions';
import { inject } from 'vitest';
import type { StackPart } from '../stack/createGatewayApp.ts';
import type { Variant } from './exampleSettings.ts';

/** A resource as the template has it. */
export interface Resource {
  readonly Type: string;
  // Of any shape: tests look into it.
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

type Parts = Readonly<Record<StackPart, TemplateJson | undefined>>;

/** As CloudFormation has it. */
export interface TemplateJson {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Parameters?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: unknown; readonly Export?: { readonly Name: string } }>>;
}

/** Reads a stage's synthesised templates; there is no `Edge` if none is wanted. */
export function readTemplates(variant: Variant): Parts {
  return JSON.parse(inject('templates')[variant]);
}

/** Reads the template of one of the stacks. */
export function readTemplate(variant: Variant, part: StackPart = 'Service'): Template {
  const template = readTemplates(variant)[part];
  if (template === undefined) throw new Error(`${variant} has no stack ${part}`);
  // An object of CloudFormation's own form.
  return Template.fromJSON(template as unknown as Record<string, unknown>);
}

/** Finds all resources of a type in all stacks of a stage, by their logical ids, which no two of them share. */
export function findResources(variant: Variant, type: string): Readonly<Record<string, Resource>> {
  const all = Object.values(readTemplates(variant)).flatMap((template) => Object.entries(template?.Resources ?? {}));
  return Object.fromEntries(all.filter(([, { Type }]) => Type === type));
}

/** Finds the one resource of a type, or the one of them whose logical id is a word and a hash. */
export function findOnly(variant: Variant, type: string, word?: string): Resource {
  const isMeant = (id: string) => word === undefined || new RegExp(`^${word}[0-9A-F]{8}$`).test(id);
  const found = Object.entries(findResources(variant, type)).flatMap(([id, resource]) =>
    isMeant(id) ? [resource] : [],
  );
  if (found.length !== 1 || found[0] === undefined) throw new Error(`expected one ${type}, found ${found.length}`);
  return found[0];
}

/** Of a value of another stack: `stack:ExportsOutputFnGetAttBucketArn0A1B` is `<Bucket.Arn>`, as it would be in its own. */
function flattenImport(name: string): string {
  const [, kind, id, attribute] = /:ExportsOutput(Ref|FnGetAtt)(.+[0-9A-F]{8})(Arn|)[0-9A-F]{8}$/.exec(name) ?? [];
  return kind === 'FnGetAtt' ? `<${id}.${attribute}>` : `<${id}>`;
}

/** Writes a value with intrinsic functions as plain text: `{"Ref": "Table"}` becomes `<Table>`. */
export function flatten(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('Fn::ImportValue' in value) return flattenImport(String(value['Fn::ImportValue']));
  if ('Ref' in value) return `<${String(value.Ref)}>`;
  if ('Fn::GetAtt' in value && Array.isArray(value['Fn::GetAtt'])) return `<${value['Fn::GetAtt'].join('.')}>`;
  if ('Fn::Join' in value && Array.isArray(value['Fn::Join'])) {
    const [separator, parts] = value['Fn::Join'];
    if (Array.isArray(parts)) return parts.map(flatten).join(String(separator));
  }
  return JSON.stringify(value);
}

/** A value or a list of values, as policies have them, as a list of plain texts. */
export function flattenAll(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map(flatten);
}
