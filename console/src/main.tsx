import { render } from 'preact';
import { App } from './app';
import { showAllCharacters } from './visible';

showAllCharacters();
render(<App />, document.querySelector('#app')!);
