/**
 * The used part of a Standard Schema (https://standardschema.dev, version 1) that can describe itself as JSON Schema:
 * zod 4.2 and later, ArkType, Valibot and others.
 */
export interface StandardInputSchema {
  readonly '~standard': {
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly jsonSchema?: Readonly<Record<'input' | 'output', DescribeAs>>;
  };
}

type DescribeAs = (options: { readonly target: string }) => Record<string, unknown>;

export type StandardResult =
  { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function isStandardSchema(input: object): input is StandardInputSchema {
  return '~standard' in input;
}
