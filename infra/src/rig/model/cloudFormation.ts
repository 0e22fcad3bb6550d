import type { Resource, TemplateJson } from '../readTemplate.ts';
import type { Account, Thing } from './account.ts';
import { type EvaluationScope, evaluate, findReferences } from './evaluate.ts';

/** A template with all that the model looks at. */
export interface ModelTemplate extends TemplateJson {
  readonly Parameters?: Readonly<Record<string, { readonly Default?: string }>>;
  readonly Conditions?: Readonly<Record<string, unknown>>;
}

/** A stack as CloudFormation knows it. */
export interface ModelStack {
  readonly name: string;
  readonly region: string;
  status: string;
  isProtected: boolean;
  template: ModelTemplate;
  parameters: Readonly<Record<string, unknown>>;
  /** What belongs to it, by logical id. */
  readonly things: Map<string, Thing>;
  outputs: Readonly<Record<string, string>>;
  exports: Readonly<Record<string, string>>;
}

/** One act on one resource, which may be made to fail. */
export interface Act {
  readonly stack: string;
  readonly logicalId: string;
  readonly kind: 'create' | 'update' | 'delete';
}

export interface ChangeSet {
  readonly name: string;
  readonly region: string;
  readonly template: ModelTemplate;
  readonly parameters: Readonly<Record<string, string>>;
  /** Whether things of the same names that belong to no stack are taken over. */
  readonly importsExisting: boolean;
}

interface ModelOptions {
  readonly account: Account;
  /** Tells whether an act fails: `before` anything happens, or `after` the thing has come into being. */
  readonly faultOf: (act: Act) => 'before' | 'after' | undefined;
}

type Policy = 'Delete' | 'Retain' | 'RetainExceptOnCreate';

const policyOf = (resource: Resource | undefined) => (resource?.DeletionPolicy ?? 'Delete') as Policy;

type DependentResource = Resource & { readonly DependsOn?: string | readonly string[] };

/** Orders resources so that each comes after those that it refers to. */
function inOrder({ Resources }: ModelTemplate): string[] {
  const ids = new Set(Object.keys(Resources));
  const ordered = new Set<string>();
  const entered = new Set<string>();
  const visit = (id: string): void => {
    if (entered.has(id)) return;
    entered.add(id);
    // Each id is a resource's.
    const { DependsOn = [], Properties } = Resources[id] as DependentResource;
    for (const other of [...[DependsOn].flat(), ...findReferences(Properties, ids)]) visit(other);
    ordered.add(id);
  };
  for (const id of ids) visit(id);
  return [...ordered];
}

/** What `Ref` gives of a resource that CloudFormation names: of a secret, its ARN. */
function chooseName(type: string, { region, text }: { readonly region: string; readonly text: string }): string {
  return type === 'AWS::SecretsManager::Secret' ? `arn:aws:secretsmanager:${region}:123456789012:secret:${text}` : text;
}

/**
 * A model of CloudFormation: it makes, changes, rolls back, retains, protects and takes over what templates describe, by the rules
 * that its documentation gives.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/import-resources-automatically.html
 */
export function createCloudFormation({ account, faultOf }: ModelOptions) {
  const stacks = new Map<string, ModelStack>();
  let count = 0;

  function scopeOf(stack: ModelStack): EvaluationScope {
    return {
      parameters: stack.parameters,
      conditions: stack.template.Conditions ?? {},
      refOf: (id) => {
        const thing = stack.things.get(id);
        if (thing === undefined) throw new Error(`${stack.name} refers to ${id}, which is not there`);
        return thing.name;
      },
      importValue: (name) => {
        for (const { exports, region } of stacks.values()) {
          const value = region === stack.region ? exports[name] : undefined;
          if (value !== undefined) return value;
        }
        throw new Error(`No export named ${name} found`);
      },
    };
  }

  const propertiesOf = (stack: ModelStack, resource: Resource) =>
    // An object evaluates to an object.
    evaluate(resource.Properties ?? {}, scopeOf(stack)) as Readonly<Record<string, unknown>>;

  function check(act: Act, moment: 'before' | 'after'): void {
    if (faultOf(act) === moment) throw new Error(`${act.kind} of ${act.logicalId} fails`);
  }

  function create(stack: ModelStack, logicalId: string): void {
    const resource = stack.template.Resources[logicalId] as Resource;
    const act = { stack: stack.name, logicalId, kind: 'create' } as const;
    check(act, 'before');
    const properties = propertiesOf(stack, resource);
    const name =
      account.customName(resource.Type, properties) ??
      chooseName(resource.Type, { region: stack.region, text: `${stack.name}-${logicalId}-${count++}` });
    const thing = { type: resource.Type, name, region: stack.region, stack: stack.name, properties };
    stack.things.set(logicalId, account.add(thing));
    check(act, 'after');
  }

  function remove(stack: ModelStack, logicalId: string): void {
    const thing = stack.things.get(logicalId);
    if (thing === undefined) return;
    check({ stack: stack.name, logicalId, kind: 'delete' }, 'before');
    account.remove(thing);
    stack.things.delete(logicalId);
  }

  function release(stack: ModelStack, logicalId: string): void {
    const thing = stack.things.get(logicalId);
    if (thing !== undefined) thing.stack = undefined;
    stack.things.delete(logicalId);
  }

  /** Undoes what an operation has made; what it had taken over it lets go of. @returns whether all could be undone */
  function undo(stack: ModelStack, made: readonly string[], imported: ReadonlySet<string>): boolean {
    let isUndone = true;
    for (const id of made.toReversed()) {
      try {
        if (imported.has(id) || policyOf(stack.template.Resources[id]) === 'Retain') release(stack, id);
        else remove(stack, id);
      } catch {
        isUndone = false;
      }
    }
    return isUndone;
  }

  function settle(stack: ModelStack): void {
    const scope = scopeOf(stack);
    const outputs = Object.entries(stack.template.Outputs ?? {});
    stack.outputs = Object.fromEntries(outputs.map(([name, { Value }]) => [name, String(evaluate(Value, scope))]));
    stack.exports = Object.fromEntries(
      outputs.flatMap(([, { Export, Value }]) =>
        Export === undefined ? [] : [[Export.Name, String(evaluate(Value, scope))]],
      ),
    );
  }

  /** What the change set takes over. @throws Error where a thing belongs to another stack */
  function adopt(stack: ModelStack): Set<string> {
    const imported = new Set<string>();
    for (const [id, resource] of Object.entries(stack.template.Resources)) {
      if (stack.things.has(id) || policyOf(resource) === 'Delete') continue;
      const custom = account.customName(resource.Type, propertiesOfNamed(stack, resource));
      const found = custom === undefined ? undefined : account.find(resource.Type, stack.region, custom);
      if (found === undefined) continue;
      if (found.stack !== undefined) throw new Error(`${found.name} belongs to ${found.stack}`);
      found.stack = stack.name;
      stack.things.set(id, found);
      imported.add(id);
    }
    return imported;
  }

  /** Names are known before anything is made, or they are none that could be taken over. */
  function propertiesOfNamed(stack: ModelStack, resource: Resource): Readonly<Record<string, unknown>> {
    try {
      return propertiesOf(stack, resource);
    } catch {
      return {};
    }
  }

  function createStack(change: ChangeSet): boolean {
    const { name, region, template, parameters, importsExisting } = change;
    const isReviewed = stacks.get(name);
    const stack: ModelStack = {
      name,
      region,
      template,
      parameters: withDefaults(template, parameters),
      status: 'CREATE_IN_PROGRESS',
      isProtected: isReviewed?.isProtected ?? false,
      things: new Map(),
      outputs: {},
      exports: {},
    };
    stacks.set(name, stack);
    const imported = importsExisting ? adopt(stack) : new Set<string>();
    try {
      for (const id of inOrder(template)) if (!stack.things.has(id)) create(stack, id);
      settle(stack);
      stack.status = 'CREATE_COMPLETE';
      return true;
    } catch {
      const isUndone = undo(stack, [...stack.things.keys()], imported);
      stack.status = isUndone ? 'ROLLBACK_COMPLETE' : 'ROLLBACK_FAILED';
      return false;
    }
  }

  const withDefaults = ({ Parameters = {} }: ModelTemplate, given: Readonly<Record<string, string>>) => {
    const entries = Object.entries(Parameters).map(([name, { Default }]) => [name, given[name] ?? Default] as const);
    for (const [name, value] of entries) if (value === undefined) throw new Error(`Parameter ${name} has no value`);
    return Object.fromEntries(entries);
  };

  function change(stack: ModelStack, id: string, undoing: (() => void)[]): void {
    const thing = stack.things.get(id);
    if (thing === undefined) {
      undoing.push(() => remove(stack, id));
      create(stack, id);
      return;
    }
    const properties = propertiesOf(stack, stack.template.Resources[id] as Resource);
    if (JSON.stringify(properties) === JSON.stringify(thing.properties)) return;
    const act = { stack: stack.name, logicalId: id, kind: 'update' } as const;
    check(act, 'before');
    const before = thing.properties;
    undoing.push(() => {
      check(act, 'after');
      thing.properties = before;
    });
    thing.properties = properties;
    check(act, 'after');
  }

  function updateStack(stack: ModelStack, { template, parameters }: ChangeSet): boolean {
    const before = { template: stack.template, parameters: stack.parameters };
    const undoing: (() => void)[] = [];
    stack.template = template;
    stack.parameters = withDefaults(template, parameters);
    try {
      for (const id of inOrder(template)) change(stack, id, undoing);
      settle(stack);
    } catch {
      stack.status = rollBack(undoing) ? 'UPDATE_ROLLBACK_COMPLETE' : 'UPDATE_ROLLBACK_FAILED';
      Object.assign(stack, before);
      pendingUndo.set(stack, undoing);
      return false;
    }
    for (const id of [...stack.things.keys()].filter((known) => !(known in template.Resources))) {
      if (policyOf(before.template.Resources[id]) === 'Delete') remove(stack, id);
      else release(stack, id);
    }
    stack.status = 'UPDATE_COMPLETE';
    return true;
  }

  const pendingUndo = new Map<ModelStack, (() => void)[]>();

  function rollBack(undoing: (() => void)[]): boolean {
    try {
      while (undoing.length > 0) {
        undoing.at(-1)?.();
        undoing.pop();
      }
      return true;
    } catch {
      return false;
    }
  }

  const get = (name: string): ModelStack => {
    const stack = stacks.get(name);
    if (stack === undefined) throw new Error(`There is no stack ${name}`);
    return stack;
  };

  return {
    stacks,
    describe: (name: string) => stacks.get(name),
    setProtection(name: string, isProtected: boolean): void {
      get(name).isProtected = isProtected;
    },
    /** Runs a change set of a stack that is new or settled. @returns whether it succeeded; else it was rolled back */
    execute(changeSet: ChangeSet): boolean {
      const stack = stacks.get(changeSet.name);
      if (stack === undefined || stack.status === 'REVIEW_IN_PROGRESS') return createStack(changeSet);
      if (!/^(?:CREATE|UPDATE|UPDATE_ROLLBACK)_COMPLETE$/.test(stack.status)) {
        throw new Error(`${stack.name} is in ${stack.status} and cannot be updated`);
      }
      return updateStack(stack, changeSet);
    },
    /** Makes a stack that only exists to be protected and reviewed, as a change set for a new one does. */
    review({ name, region, template }: ChangeSet): void {
      if (stacks.has(name)) return;
      const things = new Map<string, Thing>();
      const status = 'REVIEW_IN_PROGRESS';
      stacks.set(name, {
        name,
        region,
        template,
        parameters: {},
        status,
        isProtected: false,
        things,
        outputs: {},
        exports: {},
      });
    },
    delete(name: string): void {
      const stack = get(name);
      if (stack.isProtected) throw new Error(`${name} cannot be deleted while TerminationProtection is enabled`);
      stack.status = 'DELETE_FAILED';
      for (const id of [...stack.things.keys()].reverse()) {
        if (policyOf(stack.template.Resources[id]) === 'Delete') {
          try {
            remove(stack, id);
          } catch {
            // It stays, and so does the stack.
          }
        } else release(stack, id);
      }
      if (stack.things.size === 0) stacks.delete(name);
    },
    continueRollback(name: string): void {
      const stack = get(name);
      if (stack.status !== 'UPDATE_ROLLBACK_FAILED') throw new Error(`${name} is in ${stack.status}`);
      if (rollBack(pendingUndo.get(stack) ?? [])) stack.status = 'UPDATE_ROLLBACK_COMPLETE';
    },
  };
}

export type CloudFormationModel = ReturnType<typeof createCloudFormation>;
