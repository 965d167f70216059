import { useId, useState } from 'preact/hooks';
import { t } from '../i18n';
import type { JsonSchema } from '../types';

/** A value as a form or as JSON. `undefined` while the input is no valid value. */
type Change = (value: unknown) => void;

/**
 * A form for a value of a JSON Schema. Objects of simple fields have an input for each; all else is edited as JSON. The
 * server validates the value.
 */
export function SchemaForm({
  schema: given,
  initial,
  label,
  onChange,
}: {
  /** A JSON Schema. */
  readonly schema: object;
  readonly initial: unknown;
  readonly label: string;
  readonly onChange: Change;
}) {
  const schema = given as JsonSchema;
  const isForm = schema.properties !== undefined && Object.keys(schema.properties).length > 0;
  const [asJson, setAsJson] = useState(!isForm);
  const [value, setValue] = useState<unknown>(initial ?? (isForm ? {} : undefined));
  const change: Change = (next) => {
    if (next !== undefined) setValue(next);
    onChange(next);
  };
  return (
    <fieldset class="stack card">
      <legend class="label">{label}</legend>
      {asJson ? (
        <JsonField value={value} label={t('json')} onChange={change} />
      ) : (
        <Fields schema={schema} value={(value ?? {}) as Record<string, unknown>} onChange={change} />
      )}
      {isForm && (
        <button type="button" class="plain small" onClick={() => setAsJson(!asJson)}>
          {asJson ? t('form.asForm') : t('form.asJson')}
        </button>
      )}
    </fieldset>
  );
}

function Fields({
  schema,
  value,
  onChange,
}: {
  readonly schema: JsonSchema;
  readonly value: Readonly<Record<string, unknown>>;
  readonly onChange: Change;
}) {
  const required = new Set(schema.required);
  const set = (name: string, next: unknown) => {
    const { [name]: _old, ...rest } = value;
    onChange(next === undefined ? rest : { ...rest, [name]: next });
  };
  return (
    <div class="stack">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => (
        <Field
          key={name}
          name={name}
          schema={field}
          isRequired={required.has(name)}
          value={value[name]}
          onChange={(next) => set(name, next)}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: Change;
}

function Field({ name, schema, isRequired, value, onChange }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {schema.title ?? name}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      <Input id={id} schema={schema} isRequired={isRequired} value={value} onChange={onChange} />
      {schema.description !== undefined && <span class="small muted">{schema.description}</span>}
    </div>
  );
}

function Input({ id, schema, isRequired, value, onChange }: Omit<FieldProps, 'name'> & { readonly id: string }) {
  const type = schema.enum ? 'enum' : String(schema.type);
  switch (type) {
    case 'enum':
      return (
        <select
          id={id}
          value={JSON.stringify(value) ?? ''}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : JSON.parse(currentTarget.value))
          }
        >
          <option value="">{isRequired ? t('form.select') : t('form.none')}</option>
          {schema.enum!.map((each) => (
            <option key={String(each)} value={JSON.stringify(each)}>
              {String(each)}
            </option>
          ))}
        </select>
      );
    case 'boolean':
      return (
        <select
          id={id}
          value={typeof value === 'boolean' ? String(value) : ''}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : currentTarget.value === 'true')
          }
        >
          <option value="">{isRequired ? t('form.select') : t('form.none')}</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    case 'integer':
    case 'number':
      return (
        <input
          id={id}
          type="number"
          step={type === 'integer' ? 1 : 'any'}
          min={schema.minimum}
          max={schema.maximum}
          value={typeof value === 'number' ? value : ''}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : Number(currentTarget.value))
          }
        />
      );
    case 'string':
      return (
        <textarea
          id={id}
          rows={typeof value === 'string' && value.length > 80 ? 5 : 1}
          maxLength={schema.maxLength}
          value={typeof value === 'string' ? value : ''}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === '' && !isRequired ? undefined : currentTarget.value)
          }
        />
      );
    default:
      return <JsonField id={id} value={value} label="" onChange={onChange} />;
  }
}

/** A text area for a JSON value, with the fault of its text. */
export function JsonField({
  id,
  value,
  label,
  onChange,
}: {
  readonly id?: string;
  readonly value: unknown;
  readonly label: string;
  readonly onChange: Change;
}) {
  const own = useId();
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const [fault, setFault] = useState<string>();
  const edit = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setFault(undefined);
    } catch (error) {
      setFault((error as Error).message);
      onChange(undefined);
    }
  };
  return (
    <div class="field">
      {label !== '' && <label for={id ?? own}>{label}</label>}
      <textarea
        id={id ?? own}
        class="mono"
        rows={Math.min(16, Math.max(3, text.split('\n').length))}
        spellcheck={false}
        value={text}
        aria-invalid={fault !== undefined}
        onInput={({ currentTarget }) => edit(currentTarget.value)}
      />
      {fault !== undefined && (
        <span class="small" role="alert">
          {t('form.invalidJson', { fault })}
        </span>
      )}
    </div>
  );
}
