import { Template } from 'aws-cdk-lib/assertions';
import { inject } from 'vitest';
import type { Variant } from './givenSettings.ts';

/** A resource as the template has it. */
export interface Resource {
  readonly Type: string;
  // Of any shape: tests look into it.
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

/** Reads a synthesised template. */
export function readTemplate(variant: Variant): Template {
  return Template.fromJSON(JSON.parse(inject('templates')[variant]));
}

/** Finds all resources of a type, by their logical ids. */
export function findResources(variant: Variant, type: string): Readonly<Record<string, Resource>> {
  // What CloudFormation calls a resource has these fields.
  return readTemplate(variant).findResources(type) as Readonly<Record<string, Resource>>;
}

/** Finds the one resource of a type. */
export function findOnly(variant: Variant, type: string): Resource {
  const found = Object.values(findResources(variant, type));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`expected one ${type}, found ${found.length}`);
  return found[0];
}

/** Writes a value with intrinsic functions as plain text: `{"Ref": "Table"}` becomes `<Table>`. */
export function flatten(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
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
