// Renders the page. StrictMode runs every effect twice during development; the hook still uploads once.

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './page.css'

const place = document.getElementById('root')
if (place === null) throw new Error('The page has no #root.')
createRoot(place).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
