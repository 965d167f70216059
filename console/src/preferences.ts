import { effect, signal } from '@preact/signals';

export type Language = 'en' | 'zh';
export type Theme = 'auto' | 'light' | 'dark';

function stored(name: string): string | null {
  try {
    return localStorage.getItem(`jackdaw.${name}`);
  } catch {
    // The browser blocks storage.
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(`jackdaw.${name}`, value);
  } catch {
    // The preference lasts as long as the page.
  }
}

const theme = stored('theme');
const chosen = stored('language') ?? navigator.language;

export const languagePreference = signal<Language>(chosen.startsWith('zh') ? 'zh' : 'en');
export const themePreference = signal<Theme>(theme === 'light' || theme === 'dark' ? theme : 'auto');

effect(() => {
  document.documentElement.lang = languagePreference.value === 'zh' ? 'zh-CN' : 'en';
  if (languagePreference.value !== (navigator.language.startsWith('zh') ? 'zh' : 'en') || stored('language')) {
    store('language', languagePreference.value);
  }
});
effect(() => {
  document.documentElement.dataset['theme'] = themePreference.value;
  if (themePreference.value !== 'auto' || theme) store('theme', themePreference.value);
});
