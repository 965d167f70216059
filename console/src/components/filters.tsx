import type { ComponentChildren } from 'preact';
import { t } from '../i18n';
import { route, setQuery } from '../router';

/** Filters of a list; their values are in the query of the URL. */
export function Filters({ children }: { readonly children: ComponentChildren }) {
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

interface FilterProps {
  /** Of the value in the query. */
  readonly name: string;
  readonly label: string;
}

/** A selection of one value. Without `value` its first option, the empty one, shows all. */
export function SelectFilter({
  name,
  label,
  options,
  value,
}: FilterProps & {
  readonly options: readonly (readonly [value: string, text: string])[];
  /** The selected one, if it is not the empty one by default. */
  readonly value?: string;
}) {
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <select
        id={`filter-${name}`}
        value={value ?? route.value.query[name] ?? ''}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}
      >
        {value === undefined && <option value="">{t('all')}</option>}
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** @param isLive whether each key press changes the list; by default the end of the input does */
export function TextFilter({ name, label, isLive = false }: FilterProps & { readonly isLive?: boolean }) {
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
    setQuery({ [name]: isLive ? currentTarget.value : currentTarget.value.trim() });
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        size={12}
        value={route.value.query[name] ?? ''}
        {...(isLive ? { onInput: change } : { onChange: change })}
      />
    </div>
  );
}
