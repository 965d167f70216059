// Renders the chart as Helm does, for machines without Helm: Sprig's functions, include, required, toYaml and fail.
//
//	GO111MODULE=off GOPATH=/usr/share/gocode go run render.go CHART VALUES
//
// VALUES is YAML or JSON that replaces members of values.yaml. Debian: golang-go golang-github-masterminds-sprig-dev
// golang-github-ghodss-yaml-dev
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

func merge(base, over map[string]interface{}) map[string]interface{} {
	for key, value := range over {
		inner, isMap := value.(map[string]interface{})
		former, wasMap := base[key].(map[string]interface{})
		if isMap && wasMap {
			base[key] = merge(former, inner)
		} else {
			base[key] = value
		}
	}
	return base
}

func read(path string) map[string]interface{} {
	text, err := os.ReadFile(path)
	check(err)
	values := map[string]interface{}{}
	check(yaml.Unmarshal(text, &values))
	return values
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	chart := os.Args[1]
	values := merge(read(filepath.Join(chart, "values.yaml")), read(os.Args[2]))
	about := read(filepath.Join(chart, "Chart.yaml"))
	data := map[string]interface{}{
		"Values": values,
		"Chart": map[string]interface{}{
			"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"],
		},
		"Release": map[string]interface{}{"Name": "jackdaw", "Namespace": "agents", "Service": "Helm"},
	}
	set := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := set.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	functions["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	functions["toYaml"] = func(value interface{}) (string, error) {
		out, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(out), "\n"), err
	}
	set.Funcs(functions)
	paths, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		check(err)
		_, err = set.New(filepath.Base(path)).Parse(string(text))
		check(err)
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		var out bytes.Buffer
		check(set.ExecuteTemplate(&out, name, data))
		fmt.Printf("---\n%s\n", strings.ReplaceAll(out.String(), "<no value>", ""))
	}
}
